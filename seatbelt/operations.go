package seatbelt

import "github.com/sbx-run/sbx/policy"

// An access class names the same operations where it allows and where it
// denies. A rule for a single operation beats any for its wildcard, so an
// operation that is named on its own anywhere, as unlink is by the guards, has
// to be named in every class.
var (
	readOperations  = []string{"file-read*", "file-test-existence", "file-clone", "process-exec*"}
	writeOperations = []string{"file-write*", "file-write-unlink"}

	// A hard link gives a second name, with the access of its place: only what
	// is readable and writable may have one.
	linkOperations = []string{"file-link"}

	// Operations on the paths of AF_UNIX sockets. They are network operations:
	// no rule on files stops a connection.
	socketOperations = []string{"network-bind", "network-outbound"}
)

func everyOperation() []string {
	return concat(readOperations, writeOperations, linkOperations, socketOperations)
}

// class is what an entry of one access allows and denies.
type class struct{ allow, deny []string }

// classes per access. Write without read keeps its names: moving a file from a
// drop box to a readable place would read it.
func classes() map[policy.Access]class {
	return map[policy.Access]class{
		policy.ReadWrite: {allow: concat(readOperations, writeOperations, linkOperations)},
		policy.Read:      {allow: readOperations, deny: concat(writeOperations, linkOperations)},
		policy.Write:     {allow: []string{"file-write*"}, deny: concat(readOperations, []string{"file-write-unlink"}, linkOperations)},
		policy.None:      {deny: everyOperation()},
	}
}

func concat(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
