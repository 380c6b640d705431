package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// Storage is what is known of volumes. It must not change while a Cluster uses it.
type Storage struct {
	Claims  map[string]*Claim  // PersistentVolumeClaims by namespace/name
	Volumes map[string]*Volume // PersistentVolumes by name
	Classes map[string]*Class  // StorageClasses by name
	// Limits is how many volumes of a driver a node can have, by node, then by driver: what
	// its CSINode says. A driver without an entry has no limit.
	Limits map[string]map[string]int
	// Attached are the volumes that VolumeAttachments attach to a node, by node.
	Attached map[string][]string
	// AllClaims, AllVolumes and AllClasses say that what is not listed does not exist.
	// Otherwise it is unknown, and Cluster.Unknown says so.
	AllClaims, AllVolumes, AllClasses bool
}

// Claim is a PersistentVolumeClaim.
type Claim struct {
	Volume string // the volume that it is bound to; empty if to none yet
	Class  string // its storage class; empty for none
	Lost   bool   // its volume is gone
	Ending bool   // it is being deleted
	// Once is whether a single pod may use it (ReadWriteOncePod).
	Once bool
}

// Volume is a PersistentVolume.
type Volume struct {
	Labels         map[string]string      // those of zones and regions restrict its nodes
	Affinity       *fairlead.NodeSelector // the nodes that can use it; nil for all
	Driver, Handle string                 // of a CSI driver; empty for others, which have no limits
}

// Class is a StorageClass.
type Class struct {
	// Waits is whether it binds volumes when a pod is scheduled (WaitForFirstConsumer).
	Waits bool
	// Driver makes its volumes: they count for the limit of the driver before they exist.
	Driver string
	// Static is whether its volumes are made by people (kubernetes.io/no-provisioner).
	Static bool
}

// claims is what the volumes of a pod require, as far as no node matters.
type claims struct {
	err     string        // why it can be scheduled nowhere
	unknown []string      // what is not known
	bound   []boundVolume // those that restrict its nodes
	attach  []attachable  // those that count for limits, each once
	once    []string      // claims that a single pod may use
}

type boundVolume struct {
	*Volume
	claim, name string
}

// attachable is a volume that a driver attaches to nodes.
type attachable struct{ driver, handle string }

// zoneLabels are the labels of volumes that restrict their nodes, each with its newer name.
var zoneLabels = [][2]string{
	{"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
	{"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
	{"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
	{"topology.kubernetes.io/region", "topology.kubernetes.io/region"},
}

// read returns what the claims of a pod require.
func (s *Storage) read(namespace string, spec *fairlead.PodSpec) (all claims) {
	for i := range spec.Volumes {
		source := spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		key := namespace + "/" + source.ClaimName
		c := s.Claims[key]
		switch {
		case c == nil && s.AllClaims:
			all.fail("its claim %s does not exist", source.ClaimName)
		case c == nil:
			all.unknown = append(all.unknown, "the claim "+key+" is not known")
		case c.Lost:
			all.fail("the volume of its claim %s is lost", source.ClaimName)
		case c.Ending:
			all.fail("its claim %s is being deleted", source.ClaimName)
		case c.Volume == "":
			s.unbound(&all, source.ClaimName, key, c)
		case s.Volumes[c.Volume] == nil && s.AllVolumes:
			all.fail("the volume %s of its claim %s does not exist", c.Volume, source.ClaimName)
		case s.Volumes[c.Volume] == nil:
			all.unknown = append(all.unknown, "the volume "+c.Volume+" of the claim "+key+" is not known")
		default:
			all.add(boundVolume{s.Volumes[c.Volume], source.ClaimName, c.Volume})
		}
		if c != nil && s.Volumes[c.Volume] == nil {
			s.count(&all, key, c)
		}
		if c != nil && c.Once {
			all.once = append(all.once, key)
		}
	}
	return all
}

// count counts the volume that a claim is to get.
func (s *Storage) count(all *claims, key string, c *Claim) {
	class := s.Classes[c.Class]
	if class == nil || class.Driver == "" {
		return
	}
	if a := (attachable{class.Driver, "claim " + key}); !slices.Contains(all.attach, a) {
		all.attach = append(all.attach, a)
	}
}

// unbound judges a claim without a volume.
func (s *Storage) unbound(all *claims, name, key string, c *Claim) {
	class := s.Classes[c.Class]
	switch {
	case class == nil && c.Class != "" && !s.AllClasses:
		all.unknown = append(all.unknown, "the storage class "+c.Class+" of the claim "+key+" is not known")
	case class == nil:
		all.fail("its claim %s has no volume, and no storage class provides one", name)
	case !class.Waits:
		all.fail("its claim %s has no volume yet, and its storage class %s binds one before the pod is scheduled", name, c.Class)
	case class.Static:
		all.unknown = append(all.unknown, "which volume the claim "+key+" gets is not known")
	}
}

func (c *claims) fail(format string, args ...any) {
	if c.err == "" {
		c.err = fmt.Sprintf(format, args...)
	}
}

func (c *claims) add(v boundVolume) {
	if a := (attachable{v.Driver, v.Handle}); v.Driver != "" && !slices.Contains(c.attach, a) {
		c.attach = append(c.attach, a)
	}
	if v.Affinity != nil || slices.ContainsFunc(zoneLabels, func(l [2]string) bool { return v.Labels[l[0]] != "" }) {
		c.bound = append(c.bound, v)
	}
}

// apart returns the filter by which a node cannot use a volume of the pod, whatever else
// runs there, with the reason; or "".
func (c *claims) apart(n *fairlead.Node) (Filter, string) {
	if c.err != "" {
		return VolumeBinding, c.err
	}
	if len(c.bound) == 0 {
		return "", ""
	}
	for _, v := range c.bound {
		if v.Affinity != nil && !slices.ContainsFunc(v.Affinity.Terms, func(t fairlead.NodeSelectorTerm) bool { return termMatches(&t, n) }) {
			return VolumeBinding, fmt.Sprintf("the volume %s of its claim %s can be used only on nodes with %s", v.name, v.claim, affinityWords(v.Affinity))
		}
	}
	if !slices.ContainsFunc(zoneLabels, func(l [2]string) bool { _, has := n.Labels[l[0]]; return has }) {
		return "", "" // a cluster without zones
	}
	for _, v := range c.bound {
		for _, l := range zoneLabels {
			zones, has := v.Labels[l[0]]
			if !has {
				continue
			}
			where, is := n.Labels[l[0]]
			if !is {
				where, is = n.Labels[l[1]]
			}
			if !is || !slices.Contains(strings.Split(zones, "__"), where) {
				return VolumeZone, fmt.Sprintf("the volume %s of its claim %s has %s=%s", v.name, v.claim, l[0], zones)
			}
		}
	}
	return "", ""
}

// affinityWords says which nodes a volume can be used on.
func affinityWords(s *fairlead.NodeSelector) string {
	var terms []string
	for i := range s.Terms {
		var all []string
		for _, r := range s.Terms[i].MatchExpressions {
			text := r.Key + " " + r.Operator
			if r.Operator == "In" {
				text = r.Key + "=" + strings.Join(r.Values, "|")
			} else if len(r.Values) > 0 {
				text += " " + strings.Join(r.Values, ", ")
			}
			all = append(all, text)
		}
		terms = append(terms, strings.Join(all, " and "))
	}
	return strings.Join(terms, ", or ")
}

// mount counts the volumes of a pod on its node, or, if by is negative, no longer.
func (n *node) mount(all []attachable, by int) {
	for _, a := range all {
		if n.mounted == nil {
			n.mounted = map[attachable]int{}
		}
		if n.mounted[a] += by; n.mounted[a] == 0 {
			delete(n.mounted, a)
			delete(n.attached, a) // it is detached then
		}
	}
}

// full returns the first driver whose limit the volumes of a class would exceed, with the
// limit and what the node has; or "".
func (c *Cluster) full(k *class, n *node) (driver string, limit, has int) {
	limits := c.limits(n)
	if limits == nil {
		return "", 0, 0
	}
	for _, a := range k.claims.attach {
		limit, limited := limits[a.driver]
		if !limited {
			continue
		}
		has, more := 0, 0
		for m := range n.mounted {
			has += ofDriver(m, a.driver)
		}
		for m := range n.attached {
			if n.mounted[m] == 0 {
				has += ofDriver(m, a.driver)
			}
		}
		for _, m := range k.claims.attach {
			if n.mounted[m] == 0 {
				more += ofDriver(m, a.driver)
			}
		}
		if more > 0 && has+more > limit {
			return a.driver, limit, has
		}
	}
	return "", 0, 0
}

// ofDriver is 1 for a volume of a driver, to be counted.
func ofDriver(a attachable, driver string) int {
	if a.driver == driver {
		return 1
	}
	return 0
}

func (c *Cluster) limits(n *node) map[string]int {
	if c.options.Storage == nil {
		return nil
	}
	return c.options.Storage.Limits[n.Name]
}

// attachments returns the volumes that are attached to a node.
func (c *Cluster) attachments(name string) map[attachable]struct{} {
	s := c.options.Storage
	if s == nil || len(s.Attached[name]) == 0 {
		return nil
	}
	all := map[attachable]struct{}{}
	for _, v := range s.Attached[name] {
		if v := s.Volumes[v]; v != nil && v.Driver != "" {
			all[attachable{v.Driver, v.Handle}] = struct{}{}
		}
	}
	return all
}

// hold counts the claims of a pod that only one may use.
func (c *Cluster) hold(k *class, by int) {
	for _, claim := range k.claims.once {
		if c.held[claim] += by; c.held[claim] == 0 {
			delete(c.held, claim)
			c.freedOf++ // more may fit anywhere
		}
	}
}

// occupied returns the first claim of a class that another pod uses and only one may, or "".
func (c *Cluster) occupied(k *class) string {
	for _, claim := range k.claims.once {
		if c.held[claim] > 0 {
			return claim
		}
	}
	return ""
}

// Unknown returns what would have to be known to say where a pod like this one fits, and is
// not: claims and volumes that Options.Storage lacks, and devices, which only the scheduler
// can allocate. Fits and Evaluate assume that none of it prevents anything.
func (c *Cluster) Unknown(p *fairlead.Pod) []string {
	all := slices.Clone(c.classOf(p).claims.unknown)
	if c.options.Storage == nil {
		for i := range p.Spec.Volumes {
			if v := p.Spec.Volumes[i].PersistentVolumeClaim; v != nil {
				all = append(all, "the claim "+p.Namespace+"/"+v.ClaimName+" is not known")
			}
		}
	}
	for i := range p.Spec.ResourceClaims {
		all = append(all, "which nodes have the devices of its resource claim "+p.Spec.ResourceClaims[i].Name+" is not known")
	}
	return all
}
