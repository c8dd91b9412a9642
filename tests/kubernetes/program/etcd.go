package main

import (
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/etcdutl/v3/etcdutl"
)

// runEtcdutl is the part of etcdutl that makes a member of a snapshot.
func runEtcdutl() error {
	command := &cobra.Command{Use: "etcdutl", SilenceUsage: true}
	command.PersistentFlags().StringVarP(&etcdutl.OutputFormat, "write-out", "w", "simple", "simple or json")
	command.AddCommand(etcdutl.NewSnapshotCommand())
	return command.Execute()
}
