/**
 * Sessions that need controllers: the three propagation policies, and the deletion of a namespace.
 */
import type { Session, Step } from '../session.ts'
import { configMap, fails, says } from '../steps.ts'

const hold = 'example.com/session'

/** Three ConfigMaps, each the owner of the next. */
function tree(name: string): Step[] {
  return [
    says('create -f -', `configmap/${name}-root created`, { stdin: configMap(`${name}-root`) }),
    ...below(`${name}-middle`, `${name}-root`),
    ...below(`${name}-bottom`, `${name}-middle`),
  ]
}

function below(name: string, owner: string): Step[] {
  const reference = `{apiVersion: v1, kind: ConfigMap, name: ${owner}, uid: $UID, blockOwnerDeletion: true}`
  return [
    { run: `get cm ${owner} -o jsonpath={.metadata.uid}`, keep: '$UID', expect: { out: /^[-0-9a-f]{36}$/ } },
    says('create -f -', `configmap/${name} created`, {
      stdin: configMap(name, { metadata: `, ownerReferences: [${reference}]` }),
    }),
  ]
}

/** The object may be gone before kubectl looks for it; older versions report that as an error. */
function goes(what: string): Step {
  return says(
    `wait --for=delete ${what} --timeout=50s`,
    new RegExp(
      `^(?:${what.replace(/^cm/, 'configmap').replace(/^ns/, 'namespace').replace('$', '\\$')} condition met\n)?$`,
    ),
    { since: '1.24' },
  )
}

export const cascades: Session = {
  name: 'cascades',
  steps: [
    ...tree('bg'),
    says('delete cm bg-root --cascade=background', 'configmap "bg-root" deleted<any>'),
    goes('cm/bg-middle'),
    goes('cm/bg-bottom'),
    ...tree('fg'),
    says(`patch cm fg-bottom --type=merge -p '{"metadata":{"finalizers":["${hold}"]}}'`, 'configmap/fg-bottom patched'),
    says('delete cm fg-root --cascade=foreground --wait=false', 'configmap "fg-root" deleted<any>'),
    says('get cm fg-root -o jsonpath={.metadata.finalizers}', '["foregroundDeletion"]'),
    says(`patch cm fg-bottom --type=merge -p '{"metadata":{"finalizers":null}}'`, 'configmap/fg-bottom patched'),
    goes('cm/fg-root'),
    goes('cm/fg-bottom'),
    ...tree('or'),
    says('delete cm or-root --cascade=orphan', 'configmap "or-root" deleted<any>', { since: '1.20' }),
    says('get cm or-middle -o jsonpath={.metadata.ownerReferences}', ''),
    says('get cm -l !x -o name', ['configmap/kube-root-ca.crt', 'configmap/or-bottom', 'configmap/or-middle'], {
      since: '1.24',
    }),
  ],
}

const conditions = `-o jsonpath='{range .status.conditions[*]}{.type}={.status} {.message}{"\\n"}{end}'`

export const namespaceEnd: Session = {
  name: 'namespace-end',
  steps: [
    says('create ns $NS-stuck', 'namespace/$NS-stuck created'),
    says('create -n $NS-stuck -f -', 'configmap/held created', {
      stdin: configMap('held', { metadata: `, finalizers: [${hold}]` }),
    }),
    says('create cm -n $NS-stuck free', 'configmap/free created'),
    says('delete ns $NS-stuck --wait=false', 'namespace "$NS-stuck" deleted<any>'),
    {
      run: 'get ns $NS-stuck --watch -o jsonpath={.status}',
      during: { ready: /SomeFinalizersRemain/, steps: [], enough: /SomeFinalizersRemain/ },
    },
    says(`get ns $NS-stuck ${conditions}`, [
      'NamespaceDeletionDiscoveryFailure=False All resources successfully discovered',
      'NamespaceDeletionGroupVersionParsingFailure=False All legacy kube types successfully parsed',
      'NamespaceDeletionContentFailure=False All content successfully deleted, may be waiting on finalization',
      'NamespaceContentRemaining=True Some resources are remaining: configmaps. has 1 resource instances',
      `NamespaceFinalizersRemaining=True Some content in the namespace has finalizers remaining: ${hold} in 1 resource instances`,
    ]),
    says('get ns $NS-stuck', ['NAME STATUS AGE', '$NS-stuck Terminating <age>']),
    fails('create cm -n $NS-stuck late', /because it is being terminated/),
    says(`patch cm held -n $NS-stuck --type=merge -p '{"metadata":{"finalizers":null}}'`, 'configmap/held patched'),
    goes('ns/$NS-stuck'),
    says('create ns $NS-plain', 'namespace/$NS-plain created'),
    says('create cm -n $NS-plain a', 'configmap/a created'),
    says('delete ns $NS-plain', 'namespace "$NS-plain" deleted<any>'),
    fails('get ns $NS-plain', 'Error from server (NotFound): namespaces "$NS-plain" not found'),
    says('get sa', ['NAME <any>', 'default <any>']),
  ],
}
