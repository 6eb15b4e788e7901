package policy

import "slices"

// hostSecrets are files of the system that the owner's permissions guard from
// ordinary users; as root nothing else would.
var hostSecrets = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-",
	"/etc/ssh", "/etc/ssl/private", "/etc/sudoers", "/etc/sudoers.d",
	"/etc/krb5.keytab", "/etc/security/opasswd", "/etc/NetworkManager/system-connections",
	"/etc/wireguard", "/etc/letsencrypt",
}

// credentialPaths, relative to the home, hold what would let a command act as
// the user elsewhere. A grant of the home or of a directory above leaves them
// hidden; granting one by its own name shows it.
var credentialPaths = []string{
	".aws", ".azure", ".bash_history", ".cargo/credentials", ".cargo/credentials.toml",
	".config/chromium", ".config/gcloud", ".config/gh", ".config/git/credentials", ".config/google-chrome",
	".config/hub", ".config/op", ".config/rclone", ".docker", ".git-credentials", ".gnupg",
	".kube", ".local/share/keyrings", ".mozilla", ".netrc", ".node_repl_history", ".npmrc",
	".password-store", ".pgpass", ".psql_history", ".pypirc", ".python_history", ".ssh",
	".terraform.d/credentials.tfrc.json", ".thunderbird", ".vault-token", ".zsh_history",
}

// ownPaths, relative to the home, steer later runs: what sbx trusts, which
// sessions exist, what it knows of the machine. No rule shows them.
var ownPaths = []string{".cache/sbx", ".config/sbx", ".local/state/sbx"}

// OwnPaths returns the directories below home in which sbx keeps what steers
// later runs, for callers that have no XDG directories elsewhere.
func OwnPaths(home string) []string {
	if home == "" {
		return nil
	}
	paths := make([]string, len(ownPaths))
	for i, p := range ownPaths {
		paths[i] = join(home, p)
	}
	return paths
}

// secretPaths returns where secrets are for places: what a grant leaves hidden
// unless it names the secret itself.
func secretPaths(places Places) []string {
	paths := append([]string{}, hostSecrets...)
	if places.Home == "" {
		return paths
	}
	for _, p := range credentialPaths {
		paths = append(paths, join(places.Home, p))
	}
	return paths
}

// secrets returns the entries that hide the secrets which the mounts cover
// without naming them. A mount that begins at a secret, or inside one, names
// it.
func secrets(area Area, spec Spec) []Entry {
	named := make(map[string]bool, len(spec.Mounts))
	for _, m := range spec.Mounts {
		named[m.Root] = true
	}
	if !slices.ContainsFunc(area.Entries(), func(e Entry) bool { return e.Kind == Granted }) {
		return nil
	}
	var lookup Lookup
	rule := Rule{Text: "secrets are shown only when granted by name"}
	var hidden []Entry
	for _, p := range secretPaths(spec.Places) {
		if area.At(p).Kind != Granted || named[p] {
			continue
		}
		if e := hiddenEntry(&lookup, p, rule); e.Type != TypeMissing && !named[e.Path] {
			hidden = append(hidden, e)
		}
	}
	return hidden
}
