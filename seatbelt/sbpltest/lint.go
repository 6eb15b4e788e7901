package sbpltest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Limits that a profile must keep. The compiler's own are not documented;
// failures were reported at 65,535 bytes of serialised patterns for one rule
// and of data for a profile, so these stay well below.
const (
	LintLiteral  = 900      // bytes of one string literal; sandbox-runtime's own bound
	LintRule     = 16 << 10 // bytes of source of one rule
	LintPatterns = 48 << 10 // bytes of all distinct patterns
)

// Lint lists what must not stand in a profile of ours although it compiles:
// each finding was a bug in somebody's sandbox. An empty result is clean.
func (p *Profile) Lint() []string {
	l := linter{profile: p}
	for _, form := range p.forms {
		l.node(form)
	}
	l.order()
	for i := range p.rules {
		l.rule(&p.rules[i])
	}
	l.rootDirectory()
	l.patterns()
	return l.findings
}

// linter collects findings over the forms as read and the rules as compiled.
type linter struct {
	profile  *Profile
	findings []string
}

func (l *linter) report(line int, format string, args ...any) {
	l.findings = append(l.findings, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
}

// node checks string literals as they stand in the text.
func (l *linter) node(n Node) {
	if n.Kind == Text && n.Raw {
		l.report(n.Line, "raw string: cannot hold a quote")
	}
	if n.Kind == Text && len(n.Atom) > LintLiteral {
		l.report(n.Line, "literal of %d bytes, at most %d", len(n.Atom), LintLiteral)
	}
	for _, item := range n.Items {
		l.node(item)
	}
}

// order finds unfiltered rules whose meaning would depend on their place:
// behind a filtered rule of the same family, or a second one.
func (l *linter) order() {
	for i, r := range l.profile.rules {
		if len(r.filters) > 0 {
			continue
		}
		for _, op := range r.ops {
			for _, earlier := range l.profile.rules[:i] {
				l.against(r, op, earlier)
			}
		}
	}
}

// against compares an unfiltered rule with one that stands before it.
func (l *linter) against(r rule, op string, earlier rule) {
	for _, other := range earlier.ops {
		switch {
		case op == other && len(earlier.filters) == 0:
			l.report(r.line, "second unfiltered rule for %s, after line %d", op, earlier.line)
		case len(earlier.filters) > 0 && op != "default" && (isUnder(op, other) || isUnder(other, op)):
			l.report(r.line, "unfiltered rule for %s after a filtered one for %s in line %d", op, other, earlier.line)
		}
	}
}

// isUnder reports whether a search for op passes through above.
func isUnder(op, above string) bool {
	return slices.ContainsFunc(chain(op), func(o operation) bool { return o.name == above })
}

// rule checks the size of a rule, and that none opens a whole family.
func (l *linter) rule(r *rule) {
	if r.bytes > LintRule {
		l.report(r.line, "rule of %d bytes, at most %d", r.bytes, LintRule)
	}
	if r.allow {
		for _, op := range r.ops {
			if op == "default" || op == "network*" || op == "file*" || op == "process*" || op == "mach*" || op == "system*" {
				l.report(r.line, "allows all of %s", op)
			}
		}
	}
	for i := range r.filters {
		l.filter(r, &r.filters[i])
	}
}

// filter checks one condition and those inside it.
func (l *linter) filter(r *rule, f *filter) {
	for i := range f.subs {
		l.filter(r, &f.subs[i])
	}
	switch f.kind {
	case "local":
		if r.allow && slices.Contains(r.ops, "network-outbound") {
			l.report(r.line, "local filter on outbound lets every destination through")
		}
	case "path", "subpath", "path-ancestors":
		l.path(r, f)
	case "path-regex":
		if !strings.HasPrefix(f.text, "^/") || !strings.HasSuffix(f.text, "$") {
			l.report(r.line, "regex %q is not anchored", f.text)
		}
	}
	if f.never {
		l.report(r.line, "regex %q never matches", f.text)
	}
}

// path checks the spelling of one path filter.
func (l *linter) path(r *rule, f *filter) {
	p := f.text
	if path.Clean(p) != p {
		l.report(r.line, "path %q is not clean", p)
	}
	for _, c := range []byte(p) {
		if c < 0x20 || c == 0x7f {
			l.report(r.line, "path %q holds a control character", p)
			break
		}
	}
	if !r.allow {
		return
	}
	for _, link := range []string{"/tmp", "/var", "/etc"} {
		if strings.HasPrefix(p, link+"/") || p == link && !isMetadataOnly(r) {
			l.report(r.line, "path %q is not how the kernel spells it", p)
		}
	}
	const volumes, cryptexes = "/System/Volumes", "/System/Volumes/Preboot/Cryptexes"
	if isAncestor(volumes, p) && !isAncestor(cryptexes, p) && p != cryptexes && !isMetadataOnly(r) {
		l.report(r.line, "path %q grants a volume under its second name", p)
	}
}

// isMetadataOnly reports a rule that lets a path be looked at and no more.
func isMetadataOnly(r *rule) bool {
	return !slices.ContainsFunc(r.ops, func(op string) bool {
		return op != "file-read-metadata" && op != "file-test-existence"
	})
}

// rootDirectory wants (allow file-read* (literal "/")): without it programs
// abort in dyld on macOS 26.
func (l *linter) rootDirectory() {
	for _, s := range Readings() {
		if !l.profile.Decide(Query{Op: "file-read-data", Path: "/", VnodeType: "DIRECTORY"}, s).Allowed {
			l.report(0, "the root directory is not readable under %s", s)
			return
		}
	}
}

// patterns adds up the distinct arguments of filters.
func (l *linter) patterns() {
	seen := map[string]bool{}
	total := 0
	var add func(f *filter)
	add = func(f *filter) {
		for i := range f.subs {
			add(&f.subs[i])
		}
		if !seen[f.kind+f.text] {
			seen[f.kind+f.text] = true
			total += len(f.text)
		}
	}
	for i := range l.profile.rules {
		for j := range l.profile.rules[i].filters {
			add(&l.profile.rules[i].filters[j])
		}
	}
	if total > LintPatterns {
		l.report(0, "patterns of %d bytes, at most %d", total, LintPatterns)
	}
}
