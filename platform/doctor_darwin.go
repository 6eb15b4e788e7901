package platform

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt"
)

// Doctor tries this machine anew.
func Doctor(s Surroundings) Report {
	var r Report
	r.add(systemFinding())
	plan, err := choose(policy.Effective{RequireOS: true}, Request{})
	r.add(seatbeltFinding(err))
	r.add(developerFinding())
	r.add(Finding{Name: "verification", State: Warning,
		Detail: "the project checks its profiles away from macOS only, against several readings of the rules",
		Remedy: "make mac-check in the source tree runs them for real in a minute; please report what it prints"})
	r.addNamesakes(s)
	if err == nil {
		r.Backend, r.Guarantees = plan.Backend, plan.Guarantees()
	}
	return r
}

func systemFinding() Finding {
	f := Finding{Name: "system", State: OK}
	product, err := unix.Sysctl("kern.osproductversion") // macOS 10.13.4
	build, _ := unix.Sysctl("kern.osversion")
	if f.Detail = "macOS " + product + " (" + build + ")"; err != nil {
		f.State, f.Detail = Warning, "macOS of unknown version: "+err.Error()
	}
	return f
}

func seatbeltFinding(err error) Finding {
	f := Finding{Name: "seatbelt", State: OK, Detail: seatbelt.Executable + ", trial run under the default profile passed"}
	if err == nil {
		return f
	}
	f.State, f.Detail = Missing, err.Error()
	if h, ok := err.(interface{ Hint() string }); ok {
		f.Remedy = h.Hint()
	}
	return f
}

func developerFinding() Finding {
	switch dir := developerDir(); {
	case dir != "":
		return Finding{Name: "developer tools", State: OK, Detail: dir}
	case isDir("/Library/Developer/CommandLineTools"):
		return Finding{Name: "developer tools", State: OK, Detail: "/Library/Developer/CommandLineTools"}
	}
	return Finding{Name: "developer tools", State: Warning, Detail: "none: git, make, clang and python3 of /usr/bin need them", Remedy: "xcode-select --install"}
}

func isDir(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}
