package kubectldrain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// The reasons of a [PodDeleteStatus].
const (
	PodDeleteStatusTypeOkay    = "Okay"    // it will be deleted
	PodDeleteStatusTypeSkip    = "Skip"    // it stays
	PodDeleteStatusTypeWarning = "Warning" // there is a warning about it
	PodDeleteStatusTypeError   = "Error"   // it must not be deleted, so the node cannot be drained
)

// PodDelete is a pod, and what happens to it.
type PodDelete struct {
	Pod    corev1.Pod      // as it was read
	Status PodDeleteStatus // what happens to it
}

// PodDeleteList contains the pods of a node and what happens to them.
type PodDeleteList struct{ items []PodDelete }

// Pods returns the pods to delete.
func (l *PodDeleteList) Pods() []corev1.Pod {
	pods := []corev1.Pod{}
	for i := range l.items {
		if l.items[i].Status.Delete {
			pods = append(pods, l.items[i].Pod)
		}
	}
	return pods
}

// Warnings returns all warnings, in one line; "" if there are none.
func (l *PodDeleteList) Warnings() string {
	return strings.Join(l.grouped(PodDeleteStatusTypeWarning), "; ")
}

// errors returns why the node cannot be drained.
func (l *PodDeleteList) errors() []error {
	var errs []error
	for _, text := range l.grouped(PodDeleteStatusTypeError) {
		errs = append(errs, fmt.Errorf("cannot delete %s", text))
	}
	return errs
}

// grouped returns the messages of pods with a reason, each with its pods.
func (l *PodDeleteList) grouped(reason string) []string {
	pods := map[string][]string{}
	for i := range l.items {
		if s := &l.items[i].Status; s.Reason == reason {
			message := s.Message
			if message == "" {
				message = "unexpected error"
			}
			pods[message] = append(pods[message], l.items[i].Pod.Namespace+"/"+l.items[i].Pod.Name)
		}
	}
	var out []string
	for message, names := range pods {
		slices.Sort(names)
		out = append(out, message+": "+strings.Join(names, ", "))
	}
	slices.Sort(out)
	return out
}

// PodDeleteStatus is the verdict of a filter on a pod.
type PodDeleteStatus struct {
	Delete  bool   // whether to delete it
	Reason  string // one of the PodDeleteStatusType constants
	Message string // a text for users
}

// PodFilter judges one pod.
type PodFilter func(corev1.Pod) PodDeleteStatus

// MakePodDeleteStatusOkay returns the status of a pod to delete.
func MakePodDeleteStatusOkay() PodDeleteStatus {
	return PodDeleteStatus{Delete: true, Reason: PodDeleteStatusTypeOkay}
}

// MakePodDeleteStatusSkip returns the status of a pod that stays.
func MakePodDeleteStatusSkip() PodDeleteStatus {
	return PodDeleteStatus{Reason: PodDeleteStatusTypeSkip}
}

// MakePodDeleteStatusWithWarning returns the status of a pod with a warning.
func MakePodDeleteStatusWithWarning(delete bool, message string) PodDeleteStatus {
	return PodDeleteStatus{Delete: delete, Reason: PodDeleteStatusTypeWarning, Message: message}
}

// MakePodDeleteStatusWithError returns the status of a pod that must not be
// deleted.
func MakePodDeleteStatusWithError(message string) PodDeleteStatus {
	return PodDeleteStatus{Reason: PodDeleteStatusTypeError, Message: message}
}

// Messages about pods; they name kubectl's flags, which users know.
const (
	textDaemonSet      = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
	textDaemonSetLeft  = "ignoring DaemonSet-managed Pods"
	textDaemonSetGone  = "deleting Pods whose DaemonSet is gone"
	textStorage        = "Pods with local storage (use --delete-emptydir-data to override)"
	textStorageGoes    = "deleting Pods with local storage"
	textUnmanaged      = "Pods that declare no controller (use --force to override)"
	textUnmanagedGoes  = "deleting Pods that declare no controller"
	annotationMirrored = corev1.MirrorPodAnnotationKey
)

// GetPodsForDeletion lists the pods of a node and what happens to them. Pods
// with errors are also in the list.
func (d *Helper) GetPodsForDeletion(nodeName string) (*PodDeleteList, []error) {
	selector, err := labels.Parse(d.PodSelector)
	if err != nil {
		return nil, []error{err}
	}
	pods, err := d.list(nodeName, selector)
	if err != nil {
		return nil, []error{err}
	}
	filters := slices.Concat([]PodFilter{d.ending, d.daemonSet, d.mirror, d.storage, d.unmanaged}, d.AdditionalFilters)
	l := &PodDeleteList{}
	for _, pod := range pods {
		status := PodDeleteStatus{}
		for _, filter := range filters {
			// The first filter that does not delete the pod decides; warnings of
			// earlier ones are kept otherwise.
			s := filter(pod)
			if status.Reason == "" || !s.Delete || s.Reason != PodDeleteStatusTypeOkay {
				status = s
			}
			if !s.Delete {
				break
			}
		}
		l.items = append(l.items, PodDelete{Pod: pod, Status: status})
	}
	if errs := l.errors(); len(errs) > 0 {
		return l, errs
	}
	return l, nil
}

// list reads the pods of a node, in pages.
func (d *Helper) list(nodeName string, selector labels.Selector) ([]corev1.Pod, error) {
	options := metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("spec.nodeName", nodeName).String(), LabelSelector: selector.String(), Limit: d.ChunkSize,
	}
	var all []corev1.Pod
	for {
		part, err := d.Client.CoreV1().Pods(metav1.NamespaceAll).List(d.context(), options)
		if err != nil {
			return nil, err
		}
		all = append(all, part.Items...)
		if options.Continue = part.Continue; options.Continue == "" {
			return all, nil
		}
	}
}

// over reports whether a pod has completed.
func over(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func (d *Helper) ending(pod corev1.Pod) PodDeleteStatus {
	if d.endless(&pod, time.Now()) {
		return MakePodDeleteStatusSkip()
	}
	return MakePodDeleteStatusOkay()
}

// endless reports whether a pod has been terminating for longer than the Helper
// waits.
func (d *Helper) endless(pod *corev1.Pod, now time.Time) bool {
	most := time.Duration(d.SkipWaitForDeleteTimeoutSeconds) * time.Second
	return most > 0 && !pod.DeletionTimestamp.IsZero() && now.Sub(pod.DeletionTimestamp.Time) > most
}

func (d *Helper) daemonSet(pod corev1.Pod) PodDeleteStatus {
	owner := metav1.GetControllerOf(&pod)
	if owner == nil || owner.Kind != "DaemonSet" || over(&pod) {
		return MakePodDeleteStatusOkay()
	}
	switch _, err := d.Client.AppsV1().DaemonSets(pod.Namespace).Get(d.context(), owner.Name, metav1.GetOptions{}); {
	case apierrors.IsNotFound(err) && d.Force:
		return MakePodDeleteStatusWithWarning(true, textDaemonSetGone)
	case err != nil:
		return MakePodDeleteStatusWithError(err.Error())
	case !d.IgnoreAllDaemonSets:
		return MakePodDeleteStatusWithError(textDaemonSet)
	}
	return MakePodDeleteStatusWithWarning(false, textDaemonSetLeft)
}

func (d *Helper) mirror(pod corev1.Pod) PodDeleteStatus {
	if _, is := pod.Annotations[annotationMirrored]; is {
		return MakePodDeleteStatusSkip()
	}
	return MakePodDeleteStatusOkay()
}

func (d *Helper) storage(pod corev1.Pod) PodDeleteStatus {
	local := slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.EmptyDir != nil })
	switch {
	case !local || over(&pod):
		return MakePodDeleteStatusOkay()
	case !d.DeleteEmptyDirData:
		return MakePodDeleteStatusWithError(textStorage)
	}
	return MakePodDeleteStatusWithWarning(true, textStorageGoes)
}

func (d *Helper) unmanaged(pod corev1.Pod) PodDeleteStatus {
	switch {
	case over(&pod) || metav1.GetControllerOf(&pod) != nil:
		return MakePodDeleteStatusOkay()
	case !d.Force:
		return MakePodDeleteStatusWithError(textUnmanaged)
	}
	return MakePodDeleteStatusWithWarning(true, textUnmanagedGoes)
}
