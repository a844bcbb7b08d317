/**
 * Commands on workloads. No controller runs, so nothing rolls out: the session checks only what is written.
 */
import type { Session } from '../session.ts'
import { deployment, fails, says } from '../steps.ts'

const made = says('create -f -', 'deployment.apps/web created', { stdin: deployment('web') })

export const scale: Session = {
  name: 'scale',
  steps: [
    made,
    says('scale deployment web --replicas=3', 'deployment.apps/web scaled'),
    fails('scale deployment web --replicas=4 --current-replicas=1', 'error: Expected replicas to be 1, was 3'),
    says('scale deployment web --replicas=4 --current-replicas=3', 'deployment.apps/web scaled'),
    fails('scale deploy none --replicas=1', /deployments.apps "none" not found/),
    says('scale deploy --all --replicas=5', 'deployment.apps/web scaled'),
    says('get deploy web -o jsonpath={.spec.replicas}/{.metadata.generation}', '5/4'),
    says(
      'expose deployment web --port=80 --target-port=8080 --name=web-svc --type=NodePort',
      'service/web-svc exposed',
    ),
    says('get svc web-svc -o jsonpath={.spec.selector}/{.spec.ports[0].targetPort}', '{"app":"web"}/8080'),
    fails(
      'expose deployment web --port=80 --name=web-svc',
      'Error from server (AlreadyExists): services "web-svc" already exists',
    ),
    {
      run: 'autoscale deployment web --min=2 --max=5 --cpu-percent=80',
      expect: { out: 'horizontalpodautoscaler.autoscaling/web autoscaled', err: /^$|has been deprecated/ },
    },
    says(
      'get hpa',
      ['NAME REFERENCE TARGETS MINPODS MAXPODS REPLICAS AGE', 'web Deployment/web <any>80% 2 5 0 <age>'],
      { since: '1.27' },
    ),
    says(
      'get horizontalpodautoscalers.v2.autoscaling web -o jsonpath={.spec.metrics}',
      '[{"resource":{"name":"cpu","target":{"averageUtilization":80,"type":"Utilization"}},"type":"Resource"}]',
    ),
    says('get horizontalpodautoscalers.v1.autoscaling web -o jsonpath={.spec.targetCPUUtilizationPercentage}', '80'),
    says('get rs,deploy', ['NAME READY UP-TO-DATE AVAILABLE AGE', 'deployment.apps/web 0/5 0 0 <age>']),
  ],
}

export const set: Session = {
  name: 'set',
  steps: [
    made,
    says('set image deployment/web main=nginx:2', 'deployment.apps/web image updated'),
    says('set image deployment/web main=nginx:2', ''),
    says('set image deploy web main=nginx:9 --dry-run=server', 'deployment.apps/web image updated (server dry run)'),
    fails('set image deployment/web nothing=nginx:2', 'error: unable to find container named "nothing"'),
    says('set env deployment/web A=1 B=2', 'deployment.apps/web env updated'),
    says('set env deployment/web A-', 'deployment.apps/web env updated'),
    says('set env deployment/web --list', ['# <any>', 'B=2']),
    says(
      'set resources deployment web -c=main --limits=cpu=200m,memory=64Mi --requests=cpu=100m',
      'deployment.apps/web resource requirements updated',
    ),
    says('set serviceaccount deployment web robot', 'deployment.apps/web serviceaccount updated'),
    says(
      'get deploy web -o jsonpath={.spec.template.spec.containers[0].image}{.spec.template.spec.containers[0].env}{.spec.template.spec.containers[0].resources}{.spec.template.spec.serviceAccountName}',
      'nginx:2[{"name":"B","value":"2"}]{"limits":{"cpu":"200m","memory":"64Mi"},"requests":{"cpu":"100m"}}robot',
    ),
    says('create service clusterip s --tcp=80', 'service/s created'),
    says('set selector svc s app=web', 'service/s selector updated'),
    says('get svc s -o jsonpath={.spec.selector}', '{"app":"web"}'),
    says('create role r --verb=get --resource=pods', 'role.rbac.authorization.k8s.io/r created'),
    says('create rolebinding b --role=r', 'rolebinding.rbac.authorization.k8s.io/b created'),
    says('set subject rolebinding b --user=a', 'rolebinding.rbac.authorization.k8s.io/b subjects updated'),
    says(
      'get rolebinding b -o jsonpath={.subjects}',
      '[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"a"}]',
    ),
  ],
}

export const rollout: Session = {
  name: 'rollout',
  steps: [
    made,
    says('rollout status deployment web --watch=false', 'Waiting for deployment spec update to be observed...'),
    fails('rollout status deployment web --timeout=1s', /timed out waiting for the condition/),
    says('rollout history deployment web', ['deployment.apps/web', 'No rollout history found.']),
    says('rollout pause deployment web', 'deployment.apps/web paused'),
    fails('rollout pause deployment web', 'error: deployments.apps "web" is already paused'),
    fails('rollout restart deployment web', /can't restart paused deployment/),
    says('rollout resume deployment web', 'deployment.apps/web resumed'),
    fails('rollout resume deployment web', 'error: deployments.apps "web" is not paused'),
    says('rollout restart deployment web', 'deployment.apps/web restarted'),
    says('get deploy web -o jsonpath={.spec.paused}/{.spec.template.metadata.annotations}', /^\/.*restartedAt/),
    fails('rollout undo deployment web', 'error: no rollout history found for deployment "web"'),
    fails('rollout status sts none', 'Error from server (NotFound): statefulsets.apps "none" not found'),
    says(
      `patch deploy web --subresource=status --type=merge -p '{"status":{"observedGeneration":4,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2}}'`,
      'deployment.apps/web patched',
      { since: '1.24' },
    ),
    says('rollout status deployment web', 'deployment "web" successfully rolled out', { since: '1.24' }),
  ],
}
