/**
 * Shorthand for steps, and objects that several sessions use.
 */
import type { Step, Text } from './session.ts'

type More = Omit<Step, 'run' | 'expect'>

/** Succeeds with this output. */
export function says(run: string, out: Text, more: More = {}): Step {
  return { run, ...more, expect: { out } }
}

/** Succeeds with this output and a warning. */
export function warns(run: string, [out, err]: readonly [out: Text, err: Text], more: More = {}): Step {
  return { run, ...more, expect: { out, err } }
}

/** Fails with this message on stderr. */
export function fails(run: string, err: Text, more: More = {}): Step {
  return { run, ...more, expect: { code: 1, err } }
}

/** Waits until a CRD of the session's group is established. `kubectl wait` fails on a CRD without conditions. */
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

/** A ConfigMap in YAML; `metadata` adds metadata, as `, labels: {a: b}`. */
export function configMap(
  name: string,
  { metadata = '', data = '{}' }: { metadata?: string; data?: string } = {},
): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${metadata}}\ndata: ${data}\n`
}

/** A Deployment in YAML with one container `main`. */
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

/** A Node in YAML; its name must start with the name of the session, which owns it. */
export const node = 'apiVersion: v1\nkind: Node\nmetadata: {name: $NS-node, labels: {zone: a}}\n'
