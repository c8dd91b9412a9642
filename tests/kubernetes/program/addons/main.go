// What the driver of kubeadm adds to a cluster, in one program. The name that it is called by says which part it is.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cloudnativelabs/kube-router/v2/pkg/cmd"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/server"
	metrics "sigs.k8s.io/metrics-server/cmd/metrics-server/app"
)

// The plugins that kubeadm's Corefile names, in the order in which they see a question.
func runCoreDNS() error {
	dnsserver.Directives = []string{
		"reload", "ready", "health", "prometheus", "errors", "loadbalance", "cache", "kubernetes", "loop", "forward",
	}
	coremain.Run()
	return nil
}

func runMetricsServer() error {
	return metrics.NewMetricsServerCommand(server.SetupSignalHandler()).Execute()
}

func runKubeRouter() error {
	settings := options.NewKubeRouterConfig()
	flags := pflag.NewFlagSet("kube-router", pflag.ExitOnError)
	settings.AddFlags(flags)
	if err := flags.Parse(os.Args[1:]); err != nil {
		return err
	}
	router, err := cmd.NewKubeRouterDefault(settings)
	if err != nil {
		return err
	}
	return router.Run()
}

func run() error {
	switch filepath.Base(os.Args[0]) {
	case "coredns":
		return runCoreDNS()
	case "kube-router":
		return runKubeRouter()
	case "metrics-server":
		return runMetricsServer()
	}
	return errors.New("call it as `coredns`, `kube-router` or `metrics-server`")
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
