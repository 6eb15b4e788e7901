package config

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sbx-run/sbx/policy"
)

// bool accepts true and false alone: yes, on and True mean different things
// to different readers of YAML.
func (d *decoder) bool(n *node, name string) Value[bool] {
	if !d.want(n, scalar, name, "true or false") {
		return Value[bool]{}
	}
	if !n.quoted && (n.text == "true" || n.text == "false") {
		return Value[bool]{V: n.text == "true", Pos: n.Pos}
	}
	fix := ""
	switch strings.ToLower(n.text) {
	case "true", "yes", "y", "on", "1":
		fix = "write true"
	case "false", "no", "n", "off", "0":
		fix = "write false"
	}
	d.fault(n.Pos, fix, "%s: want true or false, got %s", name, n.kind())
	return Value[bool]{}
}

// string accepts text; what YAML takes for something else needs quotes, so
// that no reader sees 0o17 where another sees 15.
func (d *decoder) string(n *node, name string) Value[string] {
	if !d.want(n, scalar, name, "text") {
		return Value[string]{}
	}
	if n.sort != text && !n.quoted {
		d.fault(n.Pos, "put it in quotes: "+quote(n.text), "%s: want text, got %s", name, n.kind())
		return Value[string]{}
	}
	if strings.IndexByte(n.text, 0) >= 0 {
		d.fault(n.Pos, "", "%s: holds a NUL", name)
		return Value[string]{}
	}
	return Value[string]{V: n.text, Pos: n.Pos}
}

// strings accepts a list of texts, or one text.
func (d *decoder) strings(n *node, name string) []Value[string] {
	items, ok := d.elements(n, name)
	if !ok {
		return nil
	}
	values := make([]Value[string], 0, len(items))
	for i, it := range items {
		if v := d.string(it, item(name, i)); v.Given() {
			values = append(values, v)
		}
	}
	return values
}

// oneOf accepts one of a few words; the value is its position among them.
func oneOf[T ~uint8](d *decoder, n *node, name string, words []string) Value[T] {
	want := sentence(words)
	if !d.want(n, scalar, name, want) {
		return Value[T]{}
	}
	for i, w := range words {
		if n.text == w {
			return Value[T]{V: T(i), Pos: n.Pos}
		}
	}
	d.fault(n.Pos, didYouMean(n.text, words), "%s: want %s, got %s", name, want, n.kind())
	return Value[T]{}
}

// count accepts a whole number of at least 1.
func (d *decoder) count(n *node, name string, most int64) Value[int64] {
	if !d.want(n, scalar, name, "a number") {
		return Value[int64]{}
	}
	if n.quoted || n.sort != number {
		d.fault(n.Pos, "", "%s: want a number, got %s", name, n.kind())
		return Value[int64]{}
	}
	v, err := parseCount(n.text, most)
	if err != nil {
		d.fault(n.Pos, err.fix, "%s: %s", name, err.what)
		return Value[int64]{}
	}
	return Value[int64]{V: v, Pos: n.Pos}
}

// size accepts bytes with a unit; where plain is true, a number of bytes too.
func (d *decoder) size(n *node, name string, plain bool) Value[int64] {
	if plain && n.shape == scalar && n.sort == number {
		return d.count(n, name, math.MaxInt64)
	}
	if !d.want(n, scalar, name, "a size such as 1GiB") {
		return Value[int64]{}
	}
	v, err := parseSize(n.text)
	if err != nil {
		d.fault(n.Pos, err.fix, "%s: %s", name, err.what)
		return Value[int64]{}
	}
	return Value[int64]{V: v, Pos: n.Pos}
}

// mismatch is a value that does not parse, with what to write instead.
type mismatch struct{ what, fix string }

// parseCount reads a decimal number from 1 to most.
func parseCount(s string, most int64) (int64, *mismatch) {
	digits := strings.TrimPrefix(s, "-")
	v, err := strconv.ParseInt(s, 10, 64)
	switch {
	case !isDigits(digits):
		return 0, &mismatch{what: "want a whole number, got " + s}
	case digits[0] == '0' && len(digits) > 1:
		return 0, &mismatch{what: "a number with a leading zero is octal to some readers, got " + s, fix: "write it without"}
	case err == nil && v >= 1 && v <= most:
		return v, nil
	case most == math.MaxInt64:
		return 0, &mismatch{what: "want a number of at least 1, got " + s}
	}
	return 0, &mismatch{what: "want a number from 1 to " + strconv.FormatInt(most, 10) + ", got " + s}
}

// units of sizes, in bytes.
var units = [...]struct {
	name  string
	bytes int64
}{
	{"B", 1},
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
}

// parseSize reads a whole number with a unit: 512MiB, 10MB.
func parseSize(s string) (int64, *mismatch) {
	digits := s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
	unit := s[len(digits):]
	if digits == "" {
		return 0, &mismatch{"want a size such as 512MiB, got " + quote(s), ""}
	}
	if unit == "" {
		return 0, &mismatch{"a size needs a unit, got " + s, "write " + s + "B, or use KiB, MiB, GiB"}
	}
	for _, u := range units {
		if u.name != unit {
			continue
		}
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || v > math.MaxInt64/u.bytes {
			return 0, &mismatch{"size out of range: " + s, ""}
		}
		if v == 0 {
			return 0, &mismatch{"want a size of at least 1B, got " + s, ""}
		}
		return v * u.bytes, nil
	}
	return 0, &mismatch{"unknown unit " + quote(unit) + " in " + quote(s), unitFix(digits, unit)}
}

// unitFix guesses the unit from its first letter: 1g, 1gb, 1 GiB.
func unitFix(digits, unit string) string {
	letter := strings.ToUpper(strings.TrimSpace(unit))
	if letter != "" && strings.Contains("KMGT", letter[:1]) {
		return "write " + digits + letter[:1] + "iB"
	}
	return "units are B, KiB, MiB, GiB, TiB, KB, MB, GB and TB"
}

// parseDuration reads a positive duration with units: 30s, 1h30m.
func parseDuration(s string) (time.Duration, *mismatch) {
	if isDigits(s) {
		return 0, &mismatch{"a duration needs a unit, got " + s, "write " + s + "s for seconds"}
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return 0, &mismatch{"want a duration such as 30s or 5m, got " + quote(s), ""}
	}
	if v <= 0 {
		return 0, &mismatch{"want a duration above zero, got " + s, ""}
	}
	return v, nil
}

// isDigits reports whether s is a bare number.
func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// suffixes accepts name endings that start with a dot.
func (d *decoder) suffixes(n *node, name string) []Value[string] {
	values := d.strings(n, name)
	for _, v := range values {
		if isSuffix(v.V) {
			continue
		}
		fix := ""
		if dotted := "." + strings.TrimLeft(v.V, "*."); isSuffix(dotted) {
			fix = "write " + show(dotted)
		}
		d.fault(v.Pos, fix, "%s: want the end of a name, from a dot on, got %s", name, quote(v.V))
	}
	return values
}

// isSuffix accepts ".md" and ".tar.gz". A slash would make it a path.
func isSuffix(s string) bool {
	return len(s) >= 2 && s[0] == '.' && !strings.Contains(s, "/")
}

// mode reads ro or rw.
func (d *decoder) mode(n *node) Value[policy.Mode] {
	return oneOf[policy.Mode](d, n, "mode", modeNames)
}

// modeNames are in the order of the policy.Mode values.
var modeNames = []string{"ro", "rw"}
