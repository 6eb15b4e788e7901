// Package files is the built-in I/O of a sandbox: read, write, list and
// attach by sandbox path, for tools that act for a language model.
//
// The tools run outside the kernel's walls, next to a command that may change
// the tree at the same moment. So nothing is checked by one name and opened by
// another. Every operation
//
//  1. resolves the sandbox path to a canonical host path h and decides about
//     h, which needs no further look at the file system;
//  2. opens h component by component, each in the directory opened before and
//     none through a symbolic link;
//  3. asks the opened descriptor, not the name, for its type and size.
//
// What is opened in step 2 lies at h, so the decision of step 1 is about it. A
// link put on the way in between makes step 2 fail, and the operation starts
// over. os.Root alone would not do: it follows links that stay inside, and what
// a policy denies lies inside.
//
// # Text
//
// Read returns UTF-8. A byte order mark at the start is dropped; line ends stay
// as they are. A NUL, or bytes that are not UTF-8, in what is read make the
// file binary, which is an error; so is UTF-16. Write stores the bytes it is
// given. A character is a Unicode code point.
//
// # Writing
//
// A write replaces the file as a whole or not at all: readers see the old
// content or the new, and a failure leaves the old and nothing else. Permission
// bits stay; owner and group where the caller may set them. Other names of the
// same file (hard links), access lists and extended attributes do not follow.
// Where a grant covers one file and not its directory there is no place for a
// second one, so the file is overwritten: the space is claimed before the first
// old byte is touched, but a crash can leave a mixture.
package files
