package config

// unavailable refuses keys that no part of sbx enforces yet. Dropping a row
// is all that it takes to let one in.
func unavailable(file string, c *Config) error {
	type row struct {
		at  Pos
		key string
	}
	var rows []row
	if s := c.Sandbox; s != nil {
		if s.Dynamic.V {
			rows = append(rows, row{s.Dynamic.Pos, "dynamic: true"})
		}
	}
	for _, r := range rows {
		if r.at.Given() {
			return &NotAvailableError{File: file, Pos: r.at, Key: r.key, Fix: "remove it to run without"}
		}
	}
	return nil
}
