/**
 * `kubectl delete`: selection of objects, and their dependents.
 */
import type { Session } from '../session.ts'
import { configMap, deployment, fails, says, warns } from '../steps.ts'

const gone = (...names: readonly string[]): string[] => names.map((name) => `${name} deleted<any>`)

export const remove: Session = {
  name: 'delete',
  steps: [
    says(
      'create -f -',
      [
        'configmap/a created',
        'configmap/b created',
        'configmap/c created',
        'configmap/d created',
        'configmap/e created',
      ],
      {
        stdin: ['a', 'b', 'c', 'd', 'e']
          .map((name) => configMap(name, { metadata: ', labels: {mine: "1"}' }))
          .join('---\n'),
      },
    ),
    says('delete cm a', gone('configmap "a"')),
    fails('delete cm a', 'Error from server (NotFound): configmaps "a" not found'),
    says('delete cm a --ignore-not-found', ''),
    says('delete cm/b cm/c', gone('configmap "b"', 'configmap "c"')),
    says('label cm d x=1', 'configmap/d labeled'),
    says('delete cm -l x=1', gone('configmap "d"')),
    says('delete cm -l x=none', 'No resources found'),
    says('delete cm --all', /^configmap "e" deleted/m),
    fails('delete -f -', 'Error from server (NotFound): error when deleting "STDIN": configmaps "none" not found', {
      stdin: configMap('none'),
    }),
    says('create cm a', 'configmap/a created'),
    says('delete cm a --dry-run=server', 'configmap "a" deleted<any>(server dry run)'),
    says('get cm a -o name', 'configmap/a'),
    says('delete -f -', gone('configmap "a"'), { stdin: configMap('a') }),
    says('create cm a', 'configmap/a created'),
    says('delete cm a -o name', 'configmap/a'),
    fails('delete cm', /resource\(s\) were provided, but no name/),
    fails('delete nothing a', 'error: the server doesn\'t have a resource type "nothing"'),
    fails(
      'delete --raw /api/v1/namespaces/$NS/configmaps/none',
      'Error from server (NotFound): configmaps "none" not found',
    ),
    says('delete cm,secret -l mine', 'No resources found'),
  ],
}

export const cascade: Session = {
  name: 'cascade',
  steps: [
    says('create -f -', ['deployment.apps/bg created', 'deployment.apps/fg created', 'deployment.apps/or created'], {
      stdin: ['bg', 'fg', 'or'].map((name) => deployment(name)).join('---\n'),
    }),
    says('delete deploy bg --cascade=background', gone('deployment.apps "bg"')),
    says('delete deploy fg --cascade=foreground --wait=false', gone('deployment.apps "fg"')),
    says(
      'get deploy fg -o jsonpath={.metadata.finalizers}/{.metadata.deletionGracePeriodSeconds}',
      '["foregroundDeletion"]/0',
    ),
    says('delete deploy or --cascade=orphan --wait=false', gone('deployment.apps "or"')),
    says('get deploy or -o jsonpath={.metadata.finalizers}', '["orphan"]'),
    // No garbage collector runs here, so the session finally does its work.
    says(`patch deploy or --type=merge -p '{"metadata":{"finalizers":null}}'`, 'deployment.apps/or patched'),
    says(`patch deploy fg --type=merge -p '{"metadata":{"finalizers":null}}'`, 'deployment.apps/fg patched'),
    warns('get deploy', ['', 'No resources found in $NS namespace.']),
    says('run p --image=nginx', 'pod/p created'),
    says('delete pod p', gone('pod "p"')),
    says('run p --image=nginx', 'pod/p created'),
    {
      run: 'delete pod p --grace-period=0 --force',
      expect: { out: 'pod "p" force deleted<any>', err: /Immediate deletion does not wait for confirmation/i },
    },
    says('run p --image=nginx', 'pod/p created'),
    says('delete pod p --now', gone('pod "p"')),
    says('delete all --all', 'No resources found'),
    fails(
      'delete ns default',
      'Error from server (Forbidden): namespaces "default" is forbidden: this namespace may not be deleted',
    ),
    fails(
      'delete ns kube-system',
      'Error from server (Forbidden): namespaces "kube-system" is forbidden: this namespace may not be deleted',
    ),
    says('create ns $NS-gone', 'namespace/$NS-gone created'),
    says('delete ns $NS-gone --wait=false', gone('namespace "$NS-gone"')),
    fails('create cm -n $NS-gone a', /because it is being terminated|namespaces "\$NS-gone" not found/),
  ],
}
