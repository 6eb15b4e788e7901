package config

import (
	"cmp"
	"slices"
	"strings"
)

// near returns the name of names that was most likely meant by got, or "".
// Up to a third of the characters may differ, and case counts for nothing;
// failing that, one may be the beginning of the other.
func near(got string, names []string) string {
	best, bestDistance, begins := "", max(1, len(got)/3)+1, ""
	lower := strings.ToLower(got)
	for _, name := range names {
		other := strings.ToLower(name)
		if d := distance(lower, other); d < bestDistance {
			best, bestDistance = name, d
		}
		if min(len(lower), len(other)) >= 2 && (strings.HasPrefix(lower, other) || strings.HasPrefix(other, lower)) && len(other) > len(begins) {
			begins = name
		}
	}
	return cmp.Or(best, begins)
}

// didYouMean is near as a hint.
func didYouMean(got string, names []string) string {
	if name := near(got, names); name != "" {
		return "did you mean " + name + "?"
	}
	return ""
}

// distance counts the single-character edits between a and b: insertion,
// removal, replacement, and the swap of two neighbours. Long names are not
// worth the square of their length.
func distance(a, b string) int {
	if len(a) > 256 || len(b) > 256 {
		return max(len(a), len(b))
	}
	two, one, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(one[j]+1, now[j-1]+1, one[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], two[j-2]+1)
			}
		}
		two, one, now = one, now, two
	}
	return one[len(b)]
}

// sentence joins names for a message: "a, b or c".
func sentence(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// sorted returns a sorted copy.
func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
