package policy

// Access is a set over {read, write}. The zero value is the empty set.
//
// Read covers reading files, listing directories and executing; Write covers
// every change: contents, creation, removal, renaming, metadata. Write does
// not imply Read: a place with Write alone is a drop box.
type Access uint8

// The elements of an Access set.
const (
	Read Access = 1 << iota
	Write

	None      Access = 0
	ReadWrite        = Read | Write
)

// Has reports whether b ⊆ a. The empty set is in every set.
func (a Access) Has(b Access) bool { return a&b == b }

// Meet returns a ∩ b: what both allow.
func (a Access) Meet(b Access) Access { return a & b }

// Join returns a ∪ b: what either allows.
func (a Access) Join(b Access) Access { return a | b }

// String names the set the way messages and JSON spell it.
func (a Access) String() string {
	switch a & ReadWrite {
	case Read:
		return "read"
	case Write:
		return "write"
	case ReadWrite:
		return "read+write"
	}
	return "none"
}
