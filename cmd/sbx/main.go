// Command sbx starts a command under kernel-enforced limits on what it may
// read, write and reach.
//
// One file holds one verb. ui.go owns stderr, exit.go is the one place that
// turns errors into exit codes, flags.go turns the policy flags that all verbs
// share into a policy.
package main

import "os"

func main() {
	os.Exit(execute(os.Args[1:]))
}
