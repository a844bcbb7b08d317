/**
 * Tests of Kubernetes that fail here, each with its reason. `docs/compatibility.md` lists the same differences by rule.
 *
 * A test that needs containers, nodes or an etcd of its own is no difference of the API server: those are named too, so
 * that a run says at once what is new.
 */
import type { KnownDifference } from './result.ts'

const nodes = 'it needs nodes that run containers'
const ownServer = 'it restarts or reconfigures a kube-apiserver of its own'

export const knownDifferences: readonly KnownDifference[] = [
  { suite: 'e2e', test: /should be able to convert/, reason: `the conversion webhook runs in a pod: ${nodes}` },
  { suite: 'e2e', test: /deny attaching pod/, reason: `attach: ${nodes}` },
  {
    suite: 'e2e',
    test: /ResourceQuota with (best effort|terminating) scope/,
    reason: 'quotas count objects; scopes and amounts of pods are not evaluated',
  },
  {
    suite: 'e2e',
    test: /CustomResourceFieldSelectors MUST list and watch/,
    reason: `its conversion webhook runs in a pod: ${nodes}`,
  },
  { suite: 'e2e', test: /OrderedNamespaceDeletion/, reason: `it waits for a running pod: ${nodes}` },
  { suite: 'cmd', test: /run_convert_tests/, reason: 'it needs the plugin kubectl-convert' },
  { suite: 'cmd', test: /run_multi_resources_tests/, reason: 'it needs the internet' },
  { suite: 'apiextensions', test: /TestEtcdStorage/, reason: 'it reads an etcd of its own' },
  { suite: 'apiextensions', test: /TestLimits/, reason: 'bodies of YAML and patches have lower limits here' },
  { suite: 'apiextensions', test: /FeatureGate|Ratcheting.*Disabled/, reason: ownServer },
  { suite: 'apply', test: /VeryLarge/, reason: 'there is no limit of an etcd' },
]
