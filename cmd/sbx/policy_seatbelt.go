package main

import (
	"fmt"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt"
)

// exampleRun stands for what a run adds to a policy. The names of a run's
// private directories are made at its start; here they show where parameters
// go, in the form that a Mac gives temporary directories.
var exampleRun = seatbelt.Run{Private: []string{
	"/private/var/folders/xx/example/T/sbx-501/run-1/home",
	"/private/var/folders/xx/example/T/sbx-501/run-1/tmp",
}}

// exampleFile stands for the file in which a run hands over its profile.
const exampleFile = "profile.sb"

// renderSeatbelt prints the profile of a policy, on any system.
func (a *app) renderSeatbelt(e policy.Effective) error {
	p, err := seatbelt.Render(e, exampleRun)
	if err != nil {
		return err
	}
	for _, d := range p.Partial {
		a.ui.warn("%s: seatbelt closes what matches now, not what a command creates later", d.Written)
	}
	if !a.json {
		fmt.Fprint(a.ui.out, p.Text)
		return nil
	}
	a.ui.object(renderedProfile(p))
	return nil
}

// printSeatbeltPlan shows the command line and the profile that a run would
// have.
func (a *app) printSeatbeltPlan(plan platform.Plan, cmd launcher.Command) error {
	run := plan.Machine
	run.Private = exampleRun.Private
	p, err := seatbelt.Render(plan.Effective, run)
	if err != nil {
		return err
	}
	r := renderedProfile(p, cmd.Argv...)
	if a.json {
		a.ui.object(r)
		return nil
	}
	fmt.Fprintf(a.ui.out, "%s\n\n%s", shellLine(r.Argv), p.Text)
	return nil
}

func renderedProfile(p seatbelt.Profile, command ...string) rendered {
	params := map[string]string{}
	for _, q := range p.Params {
		params[q.Name] = q.Value
	}
	return rendered{Backend: platform.Seatbelt, Argv: p.Argv(exampleFile, command...), Profile: p.Text, Params: params}
}
