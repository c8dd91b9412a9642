// Every part of a Kubernetes in one program, so that the packages that they share are compiled and linked once.
// The name that it is called by says which part it is: `kubectl get nodes` by a link, or `kube kubectl get nodes`.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/etcdctl/v3/ctlv3"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// served makes a part of the kind whose command reads its options and ends with a status of its own.
func served(command func() *cobra.Command) func() error {
	return func() error {
		os.Exit(cli.Run(command()))
		return nil
	}
}

var parts = map[string]func() error{
	"etcd":                    func() error { etcdmain.Main(os.Args); return nil },
	"etcdctl":                 ctlv3.Start,
	"etcdutl":                 runEtcdutl,
	"helm":                    runHelm,
	"kube-apiserver":          served(apiserver.NewAPIServerCommand),
	"kube-controller-manager": served(controllermanager.NewControllerManagerCommand),
	"kube-proxy":              served(proxy.NewProxyCommand),
	"kube-scheduler":          served(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubeadm":                 kubeadm.Run,
	"kubectl":                 served(kubectl.NewDefaultKubectlCommand),
	"kubelet":                 served(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	"kwok":                    runKwok,
}

// names is the answer to `kube names`: the links that belong beside the program.
func names() []string {
	all := make([]string, 0, len(parts))
	for name := range parts {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func run() error {
	name := filepath.Base(os.Args[0])
	if _, known := parts[name]; !known {
		if len(os.Args) < 2 {
			return errors.New("kube PART [OPTION]...; the parts: " + strings.Join(names(), ", "))
		}
		os.Args = os.Args[1:]
		name = os.Args[0]
	}
	if name == "names" {
		fmt.Println(strings.Join(names(), "\n"))
		return nil
	}
	part, known := parts[name]
	if !known {
		return fmt.Errorf("%s is no part; the parts: %s", name, strings.Join(names(), ", "))
	}
	return part()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kube:", err)
		os.Exit(1)
	}
}
