package main

import (
	"github.com/spf13/pflag"
	"sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

func runKwok() error {
	// Kubernetes' packages have put a --version into the common set when they were loaded, of another kind than
	// kwok's. With both, kwok ends at once.
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ExitOnError)
	early := pflag.NewFlagSet("early", pflag.ContinueOnError)
	early.ParseErrorsAllowlist.UnknownFlags = true
	early.Usage = func() {}
	ctx, _ := log.InitFlags(signals.SetupSignalContext(), early)
	ctx, err := config.InitFlags(ctx, early)
	if err != nil {
		return err
	}
	command := kwok.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(early)
	return command.ExecuteContext(ctx)
}
