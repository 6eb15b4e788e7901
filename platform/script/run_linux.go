package script

import (
	"runtime"
	"unsafe"
)

// Run carries s out on the calling thread, to which the goroutine should be
// locked.
func Run(s *Script) Failure {
	image := s.Image()
	defer runtime.KeepAlive(image)
	return Perform(unsafe.Pointer(unsafe.SliceData(image)))
}
