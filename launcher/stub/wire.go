package stub

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// The records between launcher and stub are the fields of a struct in order,
// numbers as varints, texts and lists with their length in front. Both ends
// are the same program, so there are no versions; texts are any bytes, as
// paths are; and nothing here costs time at start, as reflection would.

// coder walks a record: it appends fields to buf, or with decode set takes
// them from it. One list of fields serves both directions.
type coder struct {
	buf    []byte
	decode bool
	err    error
}

var errCutOff = errors.New("record is cut off")

func (c *coder) number(v *uint64) {
	if !c.decode {
		c.buf = binary.AppendUvarint(c.buf, *v)
		return
	}
	n, size := binary.Uvarint(c.buf)
	if size <= 0 {
		c.err, c.buf = errCutOff, nil
		return
	}
	*v, c.buf = n, c.buf[size:]
}

func (c *coder) text(v *string) {
	n := uint64(len(*v))
	c.number(&n)
	switch {
	case !c.decode:
		c.buf = append(c.buf, *v...)
	case n > uint64(len(c.buf)):
		c.err, c.buf = errCutOff, nil
	default:
		*v, c.buf = string(c.buf[:n]), c.buf[n:]
	}
}

// integer codes a number of any unsigned or small non-negative type.
func integer[T ~int | ~uint8 | ~uint64](c *coder, v *T) {
	n := uint64(*v)
	c.number(&n)
	*v = T(n)
}

func flag(c *coder, v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	c.number(&n)
	*v = n != 0
}

// list codes the items one by one. A length that the rest of the record
// cannot hold is refused before anything is allocated for it.
func list[T any](c *coder, items *[]T, item func(*coder, *T)) {
	n := uint64(len(*items))
	c.number(&n)
	if c.decode {
		if n > uint64(len(c.buf)) {
			c.err, c.buf = errCutOff, nil
			return
		}
		*items = make([]T, n)
	}
	for i := range *items {
		item(c, &(*items)[i])
	}
}

func texts(c *coder, items *[]string) { list(c, items, (*coder).text) }

// record is a struct that names its fields to a coder.
type record interface{ code(*coder) }

// maxRecord bounds a record: one check for each mount, of which bubblewrap
// takes a few thousand, and at most a few MiB of arguments.
const maxRecord = 64 << 20

// Encode returns a record with its length in front.
func Encode(r record) []byte {
	c := coder{buf: make([]byte, 4, 4096)}
	r.code(&c)
	binary.LittleEndian.PutUint32(c.buf, uint32(len(c.buf)-4))
	return c.buf
}

// Read reads one record. The end of the stream before it is io.EOF.
func Read(r *bufio.Reader, into record) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxRecord {
		return errors.New("record too long")
	}
	c := coder{buf: make([]byte, n), decode: true}
	if _, err := io.ReadFull(r, c.buf); err != nil {
		return err
	}
	into.code(&c)
	if c.err == nil && len(c.buf) > 0 {
		return errors.New("record has a rest")
	}
	return c.err
}
