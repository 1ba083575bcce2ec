package nat

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// tableName is the name of a worker's table.
func tableName(instance string) string { return "openlambda-" + instance }

// never are destinations that no lambda has business with (RFC 6890): this
// network, loopback, link-local and with it the metadata services of clouds,
// multicast, reserved.
func never() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"),
		netip.MustParsePrefix("224.0.0.0/4"), netip.MustParsePrefix("240.0.0.0/4"),
	}
}

// ruleset builds a worker's table.
type ruleset struct {
	conn  *nftables.Conn
	table *nftables.Table
}

// install makes the table, in one transaction.
func (n *Network) install() error {
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open nftables: %w", err)
	}
	r := ruleset{conn, conn.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: tableName(n.cfg.Instance)})}
	from := linkIs(expr.MetaKeyIIFNAME, linkPrefix(n.cfg.Instance))
	to := linkIs(expr.MetaKeyOIFNAME, linkPrefix(n.cfg.Instance))

	// Before anything can turn the host's own address into another.
	raw := r.chain("prerouting", nftables.ChainTypeFilter, nftables.ChainHookPrerouting, nftables.ChainPriorityRaw)
	r.rule(raw, verdict(expr.VerdictDrop), from, forHost())
	input := r.chain("input", nftables.ChainTypeFilter, nftables.ChainHookInput, nftables.ChainPriorityFilter)
	r.rule(input, verdict(expr.VerdictDrop), from)
	r.forward(n, from, to)
	out := r.chain("postrouting", nftables.ChainTypeNAT, nftables.ChainHookPostrouting, nftables.ChainPriorityNATSource)
	r.rule(out, []expr.Any{&expr.Masq{}}, ipv4(), address(source, n.share))
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("install nftables table: %w", explain(err))
	}
	return nil
}

// explain says what the kernel means when it does not know an expression: it
// has it as a module, and cannot load that.
func explain(err error) error {
	if errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("the kernel lacks one of the modules nft_masq, nft_ct and nft_fib_inet: %w", err)
	}
	return err
}

// forward says which packets pass from and to sandboxes.
func (r ruleset) forward(n *Network, from, to []expr.Any) {
	c := r.chain("forward", nftables.ChainTypeFilter, nftables.ChainHookForward, nftables.ChainPriorityFilter)
	drop := verdict(expr.VerdictDrop)
	r.rule(c, drop, from, linkIs(expr.MetaKeyOIFNAME, anyLink))
	r.rule(c, drop, from, not(ipv4()))
	r.rule(c, drop, from, not(address(source, n.share)))
	for _, p := range append(never(), n.cfg.Deny...) {
		r.rule(c, drop, from, address(destination, p))
	}
	for _, p := range n.cfg.DenyPorts {
		r.rule(c, drop, from, address(destination, netip.PrefixFrom(p.Addr(), 32)), tcpPort(p.Port()))
	}
	r.rule(c, verdict(expr.VerdictAccept), to, answers())
	r.rule(c, drop, to)
}

func (r ruleset) chain(name string, kind nftables.ChainType, hook *nftables.ChainHook, priority *nftables.ChainPriority) *nftables.Chain {
	return r.conn.AddChain(&nftables.Chain{Table: r.table, Name: name, Type: kind, Hooknum: hook, Priority: priority})
}

// rule adds: if all conditions hold, then.
func (r ruleset) rule(c *nftables.Chain, then []expr.Any, conditions ...[]expr.Any) {
	var all []expr.Any
	for _, condition := range conditions {
		all = append(all, condition...)
	}
	r.conn.AddRule(&nftables.Rule{Table: r.table, Chain: c, Exprs: append(all, then...)})
}

func verdict(kind expr.VerdictKind) []expr.Any { return []expr.Any{&expr.Verdict{Kind: kind}} }

// linkIs compares the first bytes of a link's name.
func linkIs(which expr.MetaKey, prefix string) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: which, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte(prefix)},
	}
}

func ipv4() []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.NFPROTO_IPV4}},
	}
}

// Offsets of addresses in an IPv4 header, bytes.
const (
	source      = 12
	destination = 16
)

// address compares one; the packet must be known to be IPv4.
func address(which uint32, p netip.Prefix) []expr.Any {
	mask := make([]byte, 4)
	for i := range p.Bits() {
		mask[i/8] |= 0x80 >> (i % 8)
	}
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: which, Len: 4},
		&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4, Mask: mask, Xor: make([]byte, 4)},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: p.Masked().Addr().AsSlice()},
	}
}

func tcpPort(port uint16) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(port)},
	}
}

// forHost holds for packets to an address of the host itself.
func forHost() []expr.Any {
	return []expr.Any{
		&expr.Fib{Register: 1, FlagDADDR: true, ResultADDRTYPE: true},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.NativeEndian.PutUint32(unix.RTN_LOCAL)},
	}
}

// answers holds for packets of flows that a sandbox began.
func answers() []expr.Any {
	return []expr.Any{
		&expr.Ct{Register: 1, Key: expr.CtKeySTATE},
		&expr.Bitwise{
			SourceRegister: 1, DestRegister: 1, Len: 4, Xor: make([]byte, 4),
			Mask: binaryutil.NativeEndian.PutUint32(expr.CtStateBitESTABLISHED | expr.CtStateBitRELATED),
		},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: make([]byte, 4)},
	}
}

// not turns the comparison at the end of a condition round.
func not(condition []expr.Any) []expr.Any {
	last := *condition[len(condition)-1].(*expr.Cmp)
	last.Op = expr.CmpOpNeq
	return append(condition[:len(condition)-1:len(condition)-1], &last)
}

// uninstall removes a worker's table; it is no error that there is none, or that
// there can be none.
func uninstall(instance string) error {
	conn, err := nftables.New()
	if err == nil {
		conn.DelTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: tableName(instance)})
		err = conn.Flush()
	}
	if err != nil && !absent(err) {
		return fmt.Errorf("remove nftables table: %w", err)
	}
	return nil
}

// absent holds for errors of a kernel that has no such table, or no nftables at
// all, or lets this process make none.
func absent(err error) bool {
	for _, none := range []error{unix.ENOENT, unix.EOPNOTSUPP, unix.EPROTONOSUPPORT, unix.EAFNOSUPPORT, unix.EINVAL, unix.EPERM} {
		if errors.Is(err, none) {
			return true
		}
	}
	return false
}
