package script

// Step is a step that was just added, to say more of it.
type Step struct {
	script *Script
	at     int
}

func (s *Script) add(st step, args ...Value) Step {
	for i, v := range args {
		st.args[i], st.kinds[i] = v.bits, v.kind
	}
	s.steps = append(s.steps, st)
	s.noted = append(s.noted, uint32(len(s.notes)-1))
	return Step{s, len(s.steps) - 1}
}

// For says what the steps that follow are for.
func (s *Script) For(n Note) { s.notes = append(s.notes, n) }

// Call adds a system call.
func (s *Script) Call(number uintptr, args ...Value) Step {
	return s.add(step{action: call, number: uint64(number)}, args...)
}

// Test adds a look at the 64 bits at an address, of which those under mask
// must be want. errno is what it fails with.
func (s *Script) Test(at Value, mask, want uint64, errno int) Step {
	return s.add(step{action: test, number: uint64(errno)}, at, Number(mask), Number(want))
}

// Set puts a value in a register.
func (s *Script) Set(r Register, v Value) {
	s.add(step{action: set, into: uint32(r)}, v)
}

// Store writes the low 32 bits of a value to an address.
func (s *Script) Store(at, v Value) {
	s.add(step{action: store}, at, v)
}

// point makes pointers of the offsets that stand in the n words at an address.
func (s *Script) point(at Value, n int) {
	s.add(step{action: relocate}, at, Number(n))
}

// Refuse is the opposite of Test: it fails where the bits are these.
func (s *Script) Refuse(at Value, mask, unwanted uint64, errno int) Step {
	fine := s.Label()
	s.Test(at, mask, unwanted, errno).Else(fine)
	refusal := s.Fail(errno)
	s.Place(fine)
	return refusal
}

// Fail ends the script. With Remember, what it reports is the failure that was
// remembered before, if there is one.
func (s *Script) Fail(errno int) Step {
	return s.add(step{action: fail, number: uint64(errno)})
}

// Label returns a label, to be placed once.
func (s *Script) Label() Label {
	s.labels = append(s.labels, 0)
	return Label(len(s.labels) - 1)
}

// Place puts a label in front of the next step.
func (s *Script) Place(l Label) {
	s.labels[l] = uint32(len(s.steps) + 1)
}

// Jump goes on at a label.
func (s *Script) Jump(l Label) {
	s.add(step{action: jump}).Else(l)
}

// Into keeps the result of a call.
func (st Step) Into(r Register) Step {
	st.script.steps[st.at].into = uint32(r)
	return st
}

// Else goes on at a label instead of ending the script, if the step fails with
// one of these error numbers; with any if none is named. It takes two at most.
func (st Step) Else(l Label, errnos ...uint16) Step {
	st.script.leads = append(st.script.leads, lead{st.at, l})
	copy(st.script.steps[st.at].only[:], errnos)
	return st
}

// Remember makes a failure of the step what a later [Script.Fail] reports,
// unless another came before or it only says that something is not there.
func (st Step) Remember() Step {
	st.script.steps[st.at].remember = true
	return st
}
