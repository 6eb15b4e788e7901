package policy

import (
	"encoding/json"
	"strconv"
)

// MarshalJSON writes d as encoding/json would by the tags. Every start writes
// one, and reflection over these types would cost it more than the text.
func (d Description) MarshalJSON() ([]byte, error) {
	w := jsonText{b: make([]byte, 0, 128*(1+len(d.Entries)))}
	w.number(`{"version":`, d.Version)
	w.number(`,"depth":`, d.Depth)
	w.text(`,"backend":`, d.Backend)
	w.raw(`,"entries":[`)
	for i, e := range d.Entries {
		w.comma(i)
		w.path(`{"path":`, e.Path)
		w.number(`,"access":`, int(e.Access))
		w.number(`,"kind":`, int(e.Kind))
		w.number(`,"type":`, int(e.Type))
		if e.Rule != "" {
			w.text(`,"rule":`, e.Rule)
		}
		w.raw("}")
	}
	w.raw("]")
	if len(d.Links) > 0 {
		w.raw(`,"links":[`)
		for i, l := range d.Links {
			w.comma(i)
			w.path(`{"path":`, l.Path)
			w.path(`,"target":`, l.Target)
			w.raw("}")
		}
		w.raw("]")
	}
	w.number(`,"network":`, int(d.Network))
	if len(d.Hosts) > 0 {
		w.value(`,"hosts":`, d.Hosts)
	}
	if d.Limits != (Limits{}) {
		w.value(`,"limits":`, d.Limits)
	}
	w.number(`,"system":`, int(d.System))
	if len(d.Private) > 0 {
		w.value(`,"private":`, d.Private)
	}
	w.raw("}")
	return w.b, w.err
}

// jsonText is JSON as it is written, with the first error.
type jsonText struct {
	b   []byte
	err error
}

func (w *jsonText) raw(s string) { w.b = append(w.b, s...) }

func (w *jsonText) comma(i int) {
	if i > 0 {
		w.b = append(w.b, ',')
	}
}

func (w *jsonText) number(key string, n int) {
	w.raw(key)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
}

// text writes plain text as it is and leaves the rest to encoding/json.
func (w *jsonText) text(key, s string) {
	if !isPlain(s) {
		w.value(key, s)
		return
	}
	w.raw(key)
	w.b = append(append(append(w.b, '"'), s...), '"')
}

func (w *jsonText) path(key string, p DescribedPath) {
	if !isPlain(string(p)) {
		w.value(key, p)
		return
	}
	w.text(key, string(p))
}

func (w *jsonText) value(key string, v any) {
	text, err := json.Marshal(v)
	if w.err == nil {
		w.err = err
	}
	w.raw(key)
	w.b = append(w.b, text...)
}

// isPlain reports whether s stands in JSON for itself.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
