/**
 * Short ways to write a step, and the objects that several sessions use.
 */
import type { Step, Text } from './session.ts'

type More = Omit<Step, 'run' | 'expect'>

/** Succeeds and writes this. */
export function says(run: string, out: Text, more: More = {}): Step {
  return { run, ...more, expect: { out } }
}

/** Succeeds, writes this, and warns. */
export function warns(run: string, [out, err]: readonly [out: Text, err: Text], more: More = {}): Step {
  return { run, ...more, expect: { out, err } }
}

/** Fails and complains in these words. */
export function fails(run: string, err: Text, more: More = {}): Step {
  return { run, ...more, expect: { code: 1, err } }
}

/** Waits until a definition of the session's group is in force. `kubectl wait` stumbles over one that is too fresh to have conditions. */
export function established(plural: string): Step[] {
  const name = `${plural}.$NS.example.com`
  const inForce = /"status":"True","type":"Established"/
  return [
    { run: `get crd ${name} --watch -o jsonpath={.status}`, during: { ready: inForce, steps: [], enough: inForce } },
    says(
      `wait --for=condition=Established crd/${name} --timeout=30s`,
      `customresourcedefinition.apiextensions.k8s.io/${name} condition met`,
    ),
    says(`get crd ${name}`, ['NAME CREATED AT', `${name} <time>`]),
  ]
}

/** A config map in YAML; `metadata` is more of its metadata, as `, labels: {a: b}`. */
export function configMap(
  name: string,
  { metadata = '', data = '{}' }: { metadata?: string; data?: string } = {},
): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${metadata}}\ndata: ${data}\n`
}

/** A deployment in YAML, of one container `main`. */
export function deployment(
  name: string,
  { image = 'nginx:1', replicas = 2 }: { image?: string; replicas?: number } = {},
): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: main, image: "${image}"}]}
`
}

/** A node in YAML; nodes are nobody's but the session's whose name they begin with. */
export const node = 'apiVersion: v1\nkind: Node\nmetadata: {name: $NS-node, labels: {zone: a}}\n'
