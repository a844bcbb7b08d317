/**
 * `kubectl create` and `kubectl run` for workloads and related kinds.
 */
import type { Session } from '../session.ts'
import { fails, says } from '../steps.ts'

export const createWorkloads: Session = {
  name: 'create-workloads',
  steps: [
    says('create deployment web --image=nginx:1 --replicas=2 --port=80', 'deployment.apps/web created'),
    says('get deployment web', [
      'NAME  READY  UP-TO-DATE  AVAILABLE  AGE',
      'web   0/2    0           0          <age>',
    ]),
    says('get deployment web -o wide', [
      'NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR',
      'web 0/2 0 0 <age> nginx nginx:1 app=web',
    ]),
    says('create deployment two --image=a --image=b', 'deployment.apps/two created'),
    says('get deployment two -o jsonpath={.spec.template.spec.containers[*].image}', 'a b'),
    says('create job once --image=busybox -- date', 'job.batch/once created'),
    says('get job once', ['NAME  STATUS   COMPLETIONS  DURATION  AGE', 'once  Running  0/1                    <age>']),
    says("create cronjob daily --image=busybox --schedule='0 1 * * *' -- date", 'cronjob.batch/daily created', {
      since: '1.21',
    }),
    says(
      'get cronjob',
      [
        'NAME   SCHEDULE   TIMEZONE  SUSPEND  ACTIVE  LAST SCHEDULE  AGE',
        'daily  0 1 * * *  <none>    False    0       <none>         <age>',
      ],
      { since: '1.21' },
    ),
    says('create job by-hand --from=cronjob/daily', 'job.batch/by-hand created', { since: '1.21' }),
    says(
      'get job by-hand -o jsonpath={.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name}',
      'CronJob/daily',
      { since: '1.21' },
    ),
    says(
      'create poddisruptionbudget guard --selector=app=web --min-available=1',
      'poddisruptionbudget.policy/guard created',
      { since: '1.21' },
    ),
    says(
      'get pdb',
      [
        'NAME   MIN AVAILABLE  MAX UNAVAILABLE  ALLOWED DISRUPTIONS  AGE',
        'guard  1              N/A              0                    <age>',
      ],
      { since: '1.21' },
    ),
  ],
}

export const createServices: Session = {
  name: 'create-services',
  steps: [
    says('create service clusterip inner --tcp=80:8080', 'service/inner created'),
    says('create service clusterip headless --clusterip=None', 'service/headless created'),
    says('create service nodeport outer --tcp=80:8080 --node-port=30999', 'service/outer created'),
    says('create service externalname other --external-name=example.com', 'service/other created'),
    says('create service loadbalancer balanced --tcp=80', 'service/balanced created'),
    says('get services', [
      'NAME      TYPE          CLUSTER-IP  EXTERNAL-IP  PORT(S)       AGE',
      'balanced  LoadBalancer  10.<word>   <pending>    80:<word>/TCP <age>',
      'headless  ClusterIP     None        <none>       <none>        <age>',
      'inner     ClusterIP     10.<word>   <none>       80/TCP        <age>',
      'other     ExternalName  <none>      example.com  <none>        <age>',
      'outer     NodePort      10.<word>   <none>       80:30999/TCP  <age>',
    ]),
    fails(
      'create service nodeport again --tcp=80 --node-port=30999',
      /spec.ports\[0\].nodePort: Invalid value: 30999: provided port is already allocated/,
    ),
    fails(
      'create service nodeport far --tcp=80 --node-port=40000',
      /provided port is not in the valid range. The range of valid ports is 30000-32767/,
    ),
    says('delete service outer', 'service "outer" deleted<any>'),
    says(
      "create ingress front --rule='example.com/path*=inner:80,tls=cert' --class=nginx",
      'ingress.networking.k8s.io/front created',
    ),
    says('get ingress', [
      'NAME   CLASS  HOSTS        ADDRESS  PORTS    AGE',
      'front  nginx  example.com           80, 443  <age>',
    ]),
  ],
}

export const runPods: Session = {
  name: 'run',
  steps: [
    says('run one --image=nginx --restart=Never --labels=app=one --env=A=1 --port=80', 'pod/one created'),
    says('get pod one', ['NAME  READY  STATUS   RESTARTS  AGE', 'one   0/1    Pending  0         <age>']),
    says('get pod one -o wide', [
      'NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES',
      'one 0/1 Pending 0 <age> <none> <none> <none> <none>',
    ]),
    says(
      'get pod one -o jsonpath={.spec.restartPolicy}/{.spec.containers[0].env}/{.status.phase}/{.status.qosClass}',
      'Never/[{"name":"A","value":"1"}]/Pending/BestEffort',
    ),
    says('run two --image=nginx --dry-run=server', 'pod/two created (server dry run)'),
    says('run three --image=nginx --command -- sleep 1', 'pod/three created'),
    says('get pod three -o jsonpath={.spec.containers[0].command}', '["sleep","1"]'),
    says('run four --image=nginx --expose --port=80', ['service/four created', 'pod/four created']),
    says('get pods --show-labels', [
      'NAME   READY  STATUS   RESTARTS  AGE    LABELS',
      'four   0/1    Pending  0         <age>  run=four',
      'one    0/1    Pending  0         <age>  app=one',
      'three  0/1    Pending  0         <age>  run=three',
    ]),
    fails('run one --image=nginx', 'Error from server (AlreadyExists): pods "one" already exists'),
    fails('exec one -- ls', /pod one does not have a host assigned/),
    says('logs one', ''),
    fails('top pods', /Metrics API not available/),
  ],
}
