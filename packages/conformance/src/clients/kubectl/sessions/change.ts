/**
 * Changing existing objects: edit, patch, label, annotate, and the node commands.
 */
import type { Session } from '../session.ts'
import { deployment, fails, node, says, warns } from '../steps.ts'

export const edit: Session = {
  name: 'edit',
  steps: [
    says('create configmap c --from-literal=a=one', 'configmap/c created'),
    says('edit cm c', 'configmap/c edited', { editor: 'sed -i s/one/two/' }),
    says('get cm c -o jsonpath={.data}', '{"a":"two"}'),
    warns('edit cm c', ['', 'Edit cancelled, no changes made.'], { editor: 'true', since: '1.22' }),
    fails(
      'edit cm c',
      /(?:error: At least one of apiVersion, kind and name was changed|"c" is invalid)[^]*no valid changes were saved/,
      { editor: 'sed -i s/name:.*c$/name:other/', since: '1.22' },
    ),
    fails('edit cm none', 'Error from server (NotFound): configmaps "none" not found', { editor: 'true' }),
    says('create -f -', 'deployment.apps/web created', { stdin: deployment('web') }),
    says('edit deployment web', 'deployment.apps/web edited', { editor: 'sed -i s/replicas:.2/replicas:\\ 4/' }),
    says('get deployment web -o jsonpath={.spec.replicas}', '4'),
  ],
}

export const patch: Session = {
  name: 'patch',
  steps: [
    says('create configmap c --from-literal=a=1', 'configmap/c created'),
    says(`patch cm c -p '{"data":{"b":"2"}}'`, 'configmap/c patched'),
    says(`patch cm c -p '{"data":{"b":"2"}}'`, 'configmap/c patched (no change)'),
    says(`patch cm c --type=merge -p '{"data":{"b":null,"m":"1"}}'`, 'configmap/c patched'),
    says(
      `patch cm c --type=json -p '[{"op":"test","path":"/data/m","value":"1"},{"op":"replace","path":"/data/m","value":"2"}]'`,
      'configmap/c patched',
    ),
    fails(
      `patch cm c --type=json -p '[{"op":"test","path":"/data/m","value":"1"}]'`,
      /^The request is invalid(?:: \w.*)?$/m,
    ),
    fails(`patch cm c --type=json -p '[{"op":"remove","path":"/data/none"}]'`, /^The request is invalid(?:: \w.*)?$/m),
    fails(`patch cm c -p '{"data":{"b":2}}'`, /^The request is invalid: patch: Invalid value/),
    says(`patch cm c --dry-run=server -p '{"data":{"dry":"1"}}'`, 'configmap/c patched<any>'),
    fails(
      `patch cm c -p '{"metadata":{"name":"other"}}'`,
      'Error from server (BadRequest): the name of the object (other) does not match the name on the URL (c)',
    ),
    fails(`patch cm c -p '{"metadata":{"uid":"other"}}'`, /metadata.uid: Invalid value: "other": field is immutable/),
    fails("patch cm none -p '{}'", 'Error from server (NotFound): configmaps "none" not found'),
    fails(`patch cm c --type=merge -p '"text"'`, /error decoding patch/),
    says('get cm c -o jsonpath={.data}', '{"a":"1","m":"2"}'),
    says('create -f -', 'deployment.apps/web created', { stdin: deployment('web') }),
    says(
      `patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:1"}]}}}}'`,
      'deployment.apps/web patched',
    ),
    says('get deploy web -o jsonpath={.spec.template.spec.containers[*].name}', 'side main'),
    says(
      `patch deploy web --type=merge -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:1"}]}}}}'`,
      'deployment.apps/web patched',
    ),
    says('get deploy web -o jsonpath={.spec.template.spec.containers[*].name}', 'side'),
    says(
      `patch deploy web --subresource=scale --type=merge -p '{"spec":{"replicas":5}}'`,
      'scale.autoscaling/web patched',
      { since: '1.24' },
    ),
    says(
      `patch deploy web --subresource=status --type=merge -p '{"status":{"replicas":5}}'`,
      'deployment.apps/web patched',
      { since: '1.24' },
    ),
    says('get deploy web -o jsonpath={.spec.replicas}/{.status.replicas}/{.metadata.generation}', '5/5/4', {
      since: '1.24',
    }),
    fails(`patch deploy web -p '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'`, [
      'The Deployment "web" is invalid:',
      '* spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
      '* spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable',
    ]),
  ],
}

export const label: Session = {
  name: 'label',
  steps: [
    says('create configmap c', 'configmap/c created'),
    says('label cm c x=1 y=2', 'configmap/c labeled'),
    fails('label cm c x=2', "error: 'x' already has a value (1), and --overwrite is false"),
    says('label cm c x=2 --overwrite', 'configmap/c labeled'),
    says('label cm c y-', /configmap\/c (?:un)?labeled/),
    says('label cm c nothing-', ['label "nothing" not found.', 'configmap/c not labeled']),
    says('label cm c --list', 'x=2'),
    says('label cm c x=9 --dry-run=server --overwrite', 'configmap/c labeled<any>'),
    says('label cm -l x=2 x=5 --overwrite', 'configmap/c labeled'),
    says('get cm c --show-labels', ['NAME DATA AGE LABELS', 'c 0 <age> x=5']),
    fails(
      "label cm c 'bad key=1'",
      /metadata.labels: Invalid value: "bad key": name part must consist of alphanumeric characters/,
    ),
    says('annotate cm c note=one', 'configmap/c annotated'),
    fails(
      'annotate cm c note=two',
      /--overwrite is false but found the following declared annotation\(s\): 'note' already has a value \(one\)/,
    ),
    says('annotate cm c note=two --overwrite', 'configmap/c annotated'),
    says('annotate cm c --list', 'note=two'),
    says('annotate cm c note-', 'configmap/c annotated'),
    fails(
      'label cm c x=1 --resource-version=1 --overwrite',
      /Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again/,
    ),
  ],
}

export const nodes: Session = {
  name: 'nodes',
  steps: [
    says('create -f -', 'node/$NS-node created', { stdin: node }),
    says('taint node $NS-node k=v:NoSchedule', 'node/$NS-node tainted'),
    fails(
      'taint node $NS-node k=v:NoSchedule',
      /already has k taint\(s\) with same effect\(s\) and --overwrite is false/,
    ),
    says('get node $NS-node -o jsonpath={.spec.taints[*].key}', /(?:^| )k(?: |$)/),
    says('taint node $NS-node k:NoSchedule-', 'node/$NS-node untainted'),
    says('cordon $NS-node', 'node/$NS-node cordoned'),
    says('cordon $NS-node', 'node/$NS-node already cordoned'),
    says('get node $NS-node', ['NAME STATUS ROLES AGE VERSION', '$NS-node Unknown,SchedulingDisabled <none> <age>']),
    says('uncordon $NS-node', 'node/$NS-node uncordoned'),
    says('drain $NS-node', ['node/$NS-node cordoned', 'node/$NS-node <word>']),
    fails('cordon none', /nodes "none" not found/),
  ],
}
