package policy

import (
	"slices"
	"strings"
)

// loaderVariables steer the dynamic loader and the C library of every program
// that starts (ld.so(8), "secure-execution mode", lists those that setuid
// programs ignore).
var loaderVariables = []string{
	"GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "HOSTALIASES", "LOCALDOMAIN", "LOCPATH", "MALLOC_CHECK_", "MALLOC_PERTURB_", "MALLOC_TRACE",
	"NIS_PATH", "NLSPATH", "RESOLV_HOST_CONF", "RES_OPTIONS", "TMPPREFIX", "TZDIR",
}

// LoaderVariable reports whether a variable of the caller, or all that a
// pattern with "*" stands for, makes the loader of every program do what the
// caller's does. Such a value never comes from the caller's environment: it
// was meant for programs outside. A policy can still set one of its own.
func LoaderVariable(name string) bool {
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || slices.Contains(loaderVariables, name)
}
