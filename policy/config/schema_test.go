package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func loadSchema(t *testing.T) checker {
	t.Helper()
	var root map[string]any
	require.NoError(t, json.Unmarshal(Schema(), &root))
	return checker{root}
}

// The schema and the loader know the same keys at every place.
func TestSchemaHasTheKeysOfTheLoader(t *testing.T) {
	c := loadSchema(t)
	file := append(keysOf(fileFields()), "workspace")
	for _, tt := range []struct {
		at   string
		keys []string
	}{
		{"", file},
		{"definitions/sandbox", keysOf(sandboxFields())},
		{"definitions/root", keysOf(rootFields())},
		{"definitions/mount", keysOf(mountFields())},
		{"definitions/network/oneOf/1", keysOf(networkFields())},
		{"definitions/env", keysOf(envFields())},
		{"definitions/limits", keysOf(limitFields())},
		{"definitions/worker", keysOf(workerFields())},
		{"definitions/attachments", keysOf(attachmentFields())},
		{"definitions/workspace", keysOf(workspaceFields())},
		{"definitions/workspace/properties/allow/items", keysOf(ruleFields())},
	} {
		s := c.at(tt.at)
		var keys []string
		for k := range s["properties"].(map[string]any) {
			keys = append(keys, k)
		}
		assert.ElementsMatch(t, tt.keys, keys, tt.at)
		assert.Equal(t, false, s["additionalProperties"], tt.at)
	}
}

// ... and the same words.
func TestSchemaHasTheWordsOfTheLoader(t *testing.T) {
	c := loadSchema(t)
	for at, words := range map[string][]string{
		"definitions/mode":                       modeNames,
		"definitions/preset":                     PresetNames(),
		"definitions/sandbox/properties/system":  systemNames,
		"definitions/sandbox/properties/protect": protectNames[:],
	} {
		var got []string
		for _, one := range c.at(at)["oneOf"].([]any) {
			got = append(got, one.(map[string]any)["const"].(string))
			assert.NotEmpty(t, one.(map[string]any)["description"], at)
		}
		assert.ElementsMatch(t, words, got, at)
	}
	size := regexp.MustCompile(c.at("definitions/size")["pattern"].(string))
	for _, u := range units {
		assert.Regexp(t, size, "10"+u.name)
	}
}

func TestSchemaAcceptsValidFiles(t *testing.T) {
	c := loadSchema(t)
	for file, text := range schemaCorpus(t, "valid") {
		n, faults := parse(text)
		require.Empty(t, faults, file)
		assert.Empty(t, c.check(c.root, asJSON(n), "top"), file)
	}
}

// Every invalid file is invalid to the schema too, unless it says that the
// schema cannot see its fault; then the schema must not see it.
func TestSchemaRefusesInvalidFiles(t *testing.T) {
	c := loadSchema(t)
	for file, text := range schemaCorpus(t, "invalid") {
		n, faults := parse(text)
		problem := ""
		if len(faults) == 0 {
			problem = c.check(c.root, asJSON(n), "top")
		}
		if strings.Contains(string(text), "\n# schema: blind\n") {
			assert.Empty(t, problem, file)
			continue
		}
		assert.NotEmpty(t, problem, file)
	}
}

// schemaCorpus leaves program files out: the schema is not theirs.
func schemaCorpus(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../testdata/policies", dir, "*.yaml"))
	require.NoError(t, err)
	texts := map[string][]byte{}
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f), "program") {
			continue
		}
		texts[f], err = os.ReadFile(f)
		require.NoError(t, err)
	}
	require.NotEmpty(t, texts)
	return texts
}

// asJSON turns a node into what a JSON Schema validator sees of YAML 1.2.
func asJSON(n *node) any {
	switch {
	case n == nil:
		return map[string]any{} // an empty file
	case n.shape == list:
		items := make([]any, len(n.items))
		for i, it := range n.items {
			items[i] = asJSON(it)
		}
		return items
	case n.shape == table:
		all := map[string]any{}
		for _, p := range n.pairs {
			all[p.key.text] = asJSON(p.value)
		}
		return all
	case n.quoted:
		return n.text
	case n.sort == null:
		return nil
	case n.sort == boolean:
		return strings.EqualFold(n.text, "true")
	case n.sort == number:
		if f, err := strconv.ParseFloat(n.text, 64); err == nil {
			return f
		}
		i, _ := strconv.ParseInt(n.text, 0, 64)
		return float64(i)
	}
	return n.text
}

// checker validates against the part of draft-07 that our schema uses; any
// other keyword is a failure, so that nothing in it goes unchecked.
type checker struct{ root map[string]any }

func (c checker) at(path string) map[string]any {
	var here any = c.root
	for _, name := range strings.Split(path, "/") {
		switch v := here.(type) {
		case map[string]any:
			if name != "" {
				here = v[name]
			}
		case []any:
			i, _ := strconv.Atoi(name)
			here = v[i]
		}
	}
	return here.(map[string]any)
}

// check returns the first problem, or "".
func (c checker) check(s map[string]any, v any, at string) string {
	if ref, ok := s["$ref"].(string); ok {
		return c.check(c.at(strings.TrimPrefix(ref, "#/")), v, at)
	}
	for _, keyword := range slices.Sorted(mapKeys(s)) {
		if problem := c.keyword(keyword, s, v, at); problem != "" {
			return problem
		}
	}
	return ""
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (c checker) keyword(keyword string, s map[string]any, v any, at string) string {
	arg := s[keyword]
	object, isObject := v.(map[string]any)
	array, isArray := v.([]any)
	text, isText := v.(string)
	number, isNumber := v.(float64)
	bad := func(is bool) string {
		if is {
			return fmt.Sprintf("%s: %s %v", at, keyword, arg)
		}
		return ""
	}
	switch keyword {
	case "$schema", "title", "description", "default", "definitions", "properties":
		return c.properties(keyword, arg, object, at)
	case "type":
		return bad(!isType(arg.(string), v))
	case "const":
		return bad(v != arg)
	case "pattern":
		return bad(isText && !regexp.MustCompile(arg.(string)).MatchString(text))
	case "minLength":
		return bad(isText && utf8.RuneCountInString(text) < int(arg.(float64)))
	case "minimum":
		return bad(isNumber && number < arg.(float64))
	case "maximum":
		return bad(isNumber && number > arg.(float64))
	case "minItems":
		return bad(isArray && len(array) < int(arg.(float64)))
	case "minProperties":
		return bad(isObject && len(object) < int(arg.(float64)))
	case "uniqueItems":
		return bad(isArray && hasTwice(array))
	case "required":
		return bad(isObject && slices.ContainsFunc(arg.([]any), func(k any) bool { _, ok := object[k.(string)]; return !ok }))
	case "not":
		return bad(c.check(arg.(map[string]any), v, at) == "")
	case "items":
		for i, it := range array {
			if problem := c.check(arg.(map[string]any), it, fmt.Sprintf("%s[%d]", at, i)); problem != "" {
				return problem
			}
		}
		return ""
	case "oneOf":
		matches := 0
		for _, one := range arg.([]any) {
			if c.check(one.(map[string]any), v, at) == "" {
				matches++
			}
		}
		return bad(matches != 1)
	case "propertyNames":
		for k := range object {
			if problem := c.check(arg.(map[string]any), k, at+" key"); problem != "" {
				return problem
			}
		}
		return ""
	case "additionalProperties":
		return c.additional(s, arg, object, at)
	}
	return "keyword " + keyword + " is not known to this test"
}

func (c checker) properties(keyword string, arg any, object map[string]any, at string) string {
	if keyword != "properties" {
		return ""
	}
	for k, v := range object {
		if s, ok := arg.(map[string]any)[k]; ok {
			if problem := c.check(s.(map[string]any), v, at+"."+k); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func (c checker) additional(s map[string]any, arg any, object map[string]any, at string) string {
	known, _ := s["properties"].(map[string]any)
	for k, v := range object {
		if _, ok := known[k]; ok {
			continue
		}
		if arg == false {
			return at + ": unknown " + k
		}
		if problem := c.check(arg.(map[string]any), v, at+"."+k); problem != "" {
			return problem
		}
	}
	return ""
}

func isType(name string, v any) bool {
	switch v := v.(type) {
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && v == float64(int64(v))
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return name == "null"
}

func hasTwice(items []any) bool {
	for i, a := range items {
		if slices.Contains(items[:i], a) {
			return true
		}
	}
	return false
}
