package sock

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/ids"
)

// lambdaUser is the user that a lambda runs as, counted from the first id of
// its slice: the number that it sees in a user namespace.
const lambdaUser = 1000

// Users says which ids sandboxes and zygotes have.
//
// With user namespaces, zygotes live in a realm: a namespace in which the
// worker's whole block of ids is mapped and nothing else, so that a zygote has
// power over sandboxes and none over the host. Each sandbox lives in a
// namespace below it, in which only its own slice is mapped. Without, zygotes
// are the host's root, and a sandbox has the one id of its slice that lambdas
// run as.
type Users struct {
	block  *ids.Block
	slices *ids.Slices
	realm  *os.File // the user namespace of zygotes; nil without
	lack   string   // why there is none
}

// NewUsers claims ids for one provider.
func NewUsers() (*Users, error) {
	block, err := ids.Claim()
	if err != nil {
		return nil, err
	}
	return &Users{block: block, slices: ids.NewSlices(block)}, nil
}

// Close gives the ids back, once nobody has them.
func (u *Users) Close() error {
	if u.realm != nil {
		u.realm.Close()
	}
	return u.block.Release()
}

// lambdaID is the host's number for the user that a slice's lambda runs as.
func lambdaID(s ids.Slice) int { return int(s.First) + lambdaUser }

// seenID is what the lambda itself sees as its user.
func (u *Users) seenID(s ids.Slice) int {
	if u.realm != nil {
		return lambdaUser
	}
	return lambdaID(s)
}

// names lists the users that /etc/passwd names, as sandboxes see them.
func (u *Users) names() []account {
	if u.realm != nil {
		return []account{{"lambda", lambdaUser}}
	}
	return lambdaAccounts(*u.block)
}

// lambdaAccounts lists the users that lambdas run as without user namespaces.
func lambdaAccounts(b ids.Block) []account {
	all := make([]account, min(namedUsers, int(b.Count/ids.SliceSize)-1))
	for i := range all {
		first := b.First + uint32(i+1)*ids.SliceSize
		all[i] = account{fmt.Sprintf("lambda%d", i), int(first) + lambdaUser}
	}
	return all
}

// Block tells which ids they are.
func (u *Users) Block() ids.Block { return *u.block }

// describe says which ids sandboxes have.
func (u *Users) describe() string {
	if u.realm != nil {
		return fmt.Sprintf("user namespaces with %d ids each of %s", ids.SliceSize, u.block)
	}
	return fmt.Sprintf("no user namespaces (%s), user ids of %s", u.lack, u.block)
}

// describeOne says which ids one sandbox has.
func (u *Users) describeOne(s ids.Slice) string {
	if u.realm != nil {
		return fmt.Sprintf("user ids %d-%d in a namespace", s.First, s.First+ids.SliceSize-1)
	}
	return fmt.Sprintf("user id %d", lambdaID(s))
}

// mapping maps the ids from 0 of a new user namespace.
type mapping struct{ first, count uint32 }

// mappingOf is the mapping of a sandbox that is started afresh, below the host's
// own namespace; nil without user namespaces.
func (p *Provider) mappingOf(s ids.Slice) *mapping {
	if p.users.realm == nil {
		return nil
	}
	return &mapping{s.First, ids.SliceSize}
}

// openRealm makes the zygotes' user namespace, around a process that ends at
// once. It runs on the spawner's thread.
func (s *spawner) openRealm(b *ids.Block) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	defer read.Close()
	reply := s.spawn(spawnJob{
		args:  []string{"-I", "-S", "-c", "import os; os.read(0, 1)"},
		files: []*os.File{read, read, read},
		ids:   &mapping{b.First, b.Count},
	})
	if reply.err != nil {
		write.Close()
		return nil, reply.err
	}
	defer unix.Close(reply.pidfd)
	realm, err := userNamespaceOf(reply.pid)
	write.Close()
	if e := waitFor(reply.pid); err == nil {
		err = e
	}
	return realm, err
}

// userNamespaceOf opens the user namespace of a process.
func userNamespaceOf(pid int) (*os.File, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", pid))
	if err != nil {
		return nil, fmt.Errorf("open user namespace: %w", err)
	}
	return f, nil
}
