// One sync by client-go's dynamic shared informer, in a process of its own: what it took, and what it holds.
//
// The informer is made as programs make it for custom objects: with defaults, so that it takes the list as a stream
// where the server can. The job comes as JSON in the first argument; one line of JSON goes out.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
)

type job struct {
	Address struct {
		URL   string `json:"url"`
		Token string `json:"token"`
		CAPem string `json:"caPem"`
	} `json:"address"`
	Namespace string `json:"namespace"`
	Count     int    `json:"count"`
}

type synced struct {
	Objects        int     `json:"objects"`
	Ms             float64 `json:"ms"`
	CPUMs          float64 `json:"cpuMs"`
	RSSBytes       int64   `json:"rssBytes"`
	CollectedBytes int64   `json:"collectedBytes"`
	GrownBytes     int64   `json:"grownBytes"`
	PeakBytes      int64   `json:"peakBytes"`
}

var objects = schema.GroupVersionResource{Group: "bench.evenkeel.dev", Version: "v1", Resource: "benchobjects"}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var given job
	if len(os.Args) != 2 {
		return fmt.Errorf("one argument is needed: the job as JSON")
	}
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(&rest.Config{
		Host: given.Address.URL, BearerToken: given.Address.Token, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(given.Address.CAPem)},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	// What a program does before it starts a cache: it has reached the server.
	if _, err := client.Resource(objects).Namespace(given.Namespace).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		return err
	}
	informer := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, given.Namespace, nil).ForResource(objects).Informer()

	debug.FreeOSMemory()
	before, cpu, startedAt := memory("VmRSS"), cpuMs(), time.Now()
	go informer.RunWithContext(ctx)
	for !informer.HasSynced() && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	out := synced{Ms: float64(time.Since(startedAt).Microseconds()) / 1000, CPUMs: cpuMs() - cpu}
	out.Objects = len(informer.GetStore().ListKeys())
	time.Sleep(500 * time.Millisecond)
	out.RSSBytes = memory("VmRSS")
	debug.FreeOSMemory()
	time.Sleep(500 * time.Millisecond)
	out.CollectedBytes = memory("VmRSS")
	out.GrownBytes = out.CollectedBytes - before
	out.PeakBytes = memory("VmHWM")
	return json.NewEncoder(os.Stdout).Encode(out)
}

func cpuMs() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

// memory reads one of the sizes that Linux tells of this process, in bytes.
func memory(name string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		value, found := strings.CutPrefix(line, name+":")
		if !found {
			continue
		}
		kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		return kib * 1024
	}
	return 0
}
