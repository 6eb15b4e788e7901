package stub

import (
	"errors"

	"golang.org/x/sys/unix"
)

// lastCapability is the highest number that a kernel could know; the drop
// stops at the first that this one does not.
const lastCapability = 63

// dropPrivileges leaves the command without capabilities, also as root:
// bubblewrap has done it already, and without namespaces nobody else would. An
// unprivileged process may not drop from the bounding set and has no need to,
// because no_new_privs keeps it from ever gaining one.
func dropPrivileges() error {
	for capability := uintptr(0); capability <= lastCapability; capability++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
			break
		}
		if err != nil {
			return fail(StagePrivileges, "", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fail(StagePrivileges, "", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return fail(StagePrivileges, "", unix.Capset(&header, &none[0]))
}
