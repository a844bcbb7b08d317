/**
 * `kubectl create` with each of its generators for configuration, RBAC and limits.
 */
import { makeIdentity } from 'evenkeel/server'
import { SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import type { Session } from '../session.ts'
import { fails, says } from '../steps.ts'

/** `create secret tls` checks that key and certificate match. */
const { server } = makeIdentity({ clock: new SystemClock(), random: new SystemRandom() })

export const create: Session = {
  name: 'create',
  files: { 'a.txt': 'one\n', 'b.env': 'X=1\nY=2\n', 'tls.crt': server.certificatePem, 'tls.key': server.keyPem },
  steps: [
    says('create configmap plain --from-literal=a=1 --from-literal=b=2', 'configmap/plain created'),
    says('get configmap plain -o jsonpath={.data}', '{"a":"1","b":"2"}'),
    says('create configmap files --from-file=a.txt --from-file=renamed=a.txt', 'configmap/files created'),
    says('get cm files -o jsonpath={.data}', '{"a.txt":"one\\n","renamed":"one\\n"}'),
    says('create cm env --from-env-file=b.env', 'configmap/env created'),
    says('get cm env -o jsonpath={.data}', '{"X":"1","Y":"2"}'),
    says('create secret generic word --from-literal=password=secret --type=example.com/kind', 'secret/word created'),
    says('get secret word -o jsonpath={.data.password}', 'c2VjcmV0'),
    says('create secret tls cert --cert=tls.crt --key=tls.key', 'secret/cert created'),
    says(
      'create secret docker-registry reg --docker-server=registry.example.com --docker-username=me --docker-password=secret --docker-email=me@example.com',
      'secret/reg created',
    ),
    says('get secrets', [
      'NAME  TYPE                            DATA  AGE',
      'cert  kubernetes.io/tls               2     <age>',
      'reg   kubernetes.io/dockerconfigjson  1     <age>',
      'word  example.com/kind                1     <age>',
    ]),
    says('create namespace $NS-two', 'namespace/$NS-two created'),
    says('create configmap saved --from-literal=a=1 --save-config', 'configmap/saved created'),
    says('get cm saved -o jsonpath={.metadata.annotations}', /last-applied-configuration/),
    says('create configmap hashed --from-literal=a=1 --append-hash', 'configmap/hashed-tt42b4m6hd created'),
    says('create -f - -o name', /^configmap\/made-[a-z0-9]{5}\n$/, {
      stdin: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n',
    }),
    says('create configmap tried --from-literal=a=1 --dry-run=server', 'configmap/tried created (server dry run)'),
    says('create configmap tried --from-literal=a=1 --dry-run=server -o name', 'configmap/tried'),
    says('create configmap tried --from-literal=a=1 --dry-run=client -o yaml', [
      'apiVersion: v1',
      'data:',
      '  a: "1"',
      'kind: ConfigMap',
      'metadata:',
      '...',
      '  name: tried',
      '...',
    ]),
    fails('get cm tried', 'Error from server (NotFound): configmaps "tried" not found'),
  ],
}

export const createAccess: Session = {
  name: 'create-access',
  steps: [
    says('create serviceaccount robot', 'serviceaccount/robot created'),
    fails('create sa robot', /serviceaccounts "robot" already exists/),
    says('get sa robot', ['NAME <any>', 'robot <any>']),
    says(
      'create role reader --verb=get,list --resource=pods --resource=pods/log',
      'role.rbac.authorization.k8s.io/reader created',
    ),
    says(
      'get role reader -o jsonpath={.rules}',
      '[{"apiGroups":[""],"resources":["pods","pods/log"],"verbs":["get","list"]}]',
    ),
    says(
      'create rolebinding readers --role=reader --serviceaccount=$NS:robot --user=jane',
      'rolebinding.rbac.authorization.k8s.io/readers created',
    ),
    says('get rolebinding readers -o wide', [
      'NAME ROLE AGE USERS GROUPS SERVICEACCOUNTS',
      'readers Role/reader <age> jane $NS/robot',
    ]),
    says(
      'create clusterrole $NS-nodes --verb=get --resource=nodes',
      'clusterrole.rbac.authorization.k8s.io/$NS-nodes created',
    ),
    says(
      'create clusterrole $NS-url --verb=get --non-resource-url=/logs/*',
      'clusterrole.rbac.authorization.k8s.io/$NS-url created',
    ),
    says(
      'create clusterrolebinding $NS-nodes --clusterrole=$NS-nodes --group=admins',
      'clusterrolebinding.rbac.authorization.k8s.io/$NS-nodes created',
    ),
    says('get clusterrolebinding $NS-nodes -o wide', [
      'NAME ROLE AGE USERS GROUPS SERVICEACCOUNTS',
      '$NS-nodes ClusterRole/$NS-nodes <age> admins',
    ]),
    says('create quota small --hard=pods=5,cpu=2', 'resourcequota/small created'),
    says('get quota small -o jsonpath={.spec.hard}', '{"cpu":"2","pods":"5"}'),
    says(
      'create priorityclass $NS-high --value=1000 --description=first',
      'priorityclass.scheduling.k8s.io/$NS-high created',
    ),
    says(
      'get priorityclass $NS-high',
      ['NAME VALUE GLOBAL-DEFAULT AGE PREEMPTIONPOLICY', '$NS-high 1000 false <age> PreemptLowerPriority'],
      { since: '1.0' },
    ),
  ],
}
