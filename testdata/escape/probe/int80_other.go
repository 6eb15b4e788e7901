//go:build linux && !amd64

package main

func compatCall([]string) verdict {
	return notApplicable("only amd64 has this gate to 32-bit calls")
}

func compatChild([]string) {}
