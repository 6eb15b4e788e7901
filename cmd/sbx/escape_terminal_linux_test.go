package main_test

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal and returns the side that a command gets.
func (s *stage) terminal() (*os.File, error) {
	_, theirs, err := s.terminalPair()
	return theirs, err
}

// otherTerminal is one that belongs to somebody else, who types the secret.
func (s *stage) otherTerminal() error {
	ours, theirs, err := s.terminalPair()
	if err != nil {
		return err
	}
	s.vars["PTS"] = theirs.Name()
	s.undo = append(s.undo, theirs.Close)
	_, err = ours.WriteString(hostSecret)
	return err
}

// terminalPair opens both sides. Nothing is echoed, and input counts without
// a newline, so that one typed character can be seen.
func (s *stage) terminalPair() (ours, theirs *os.File, err error) {
	if ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	s.undo = append(s.undo, ours.Close)
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		return nil, nil, err
	}
	if theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	settings, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	settings.Lflag &^= unix.ICANON | unix.ECHO
	s.marks["typed"] = func() (bool, error) {
		waiting, err := unix.IoctlGetInt(int(theirs.Fd()), unix.TIOCINQ)
		return waiting > 0, err
	}
	return ours, theirs, unix.IoctlSetTermios(int(theirs.Fd()), unix.TCSETS, settings)
}
