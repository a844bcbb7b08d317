/**
 * Discovery, version, and `auth whoami`.
 */
import type { Session } from '../session.ts'
import { fails, says, warns } from '../steps.ts'

export const discovery: Session = {
  name: 'discovery',
  steps: [
    warns(
      'version',
      [['Client Version: <any>', '...', 'Server Version: v1.36.<any>'], /^$|exceeds the supported minor version skew/],
      { since: '1.28' },
    ),
    warns('version --output=json', [
      /"serverVersion": \{\n +"major": "1",\n +"minor": "36"/,
      /^$|exceeds the supported minor version skew/,
    ]),
    says('cluster-info', /is running at .*https:\/\/127\.0\.0\.1:\d+/),
    says('api-versions', [
      'admissionregistration.k8s.io/v1',
      'apiextensions.k8s.io/v1',
      'apiregistration.k8s.io/v1',
      'apps/v1',
      'authentication.k8s.io/v1',
      'authorization.k8s.io/v1',
      'autoscaling/v1',
      'autoscaling/v2',
      'batch/v1',
      'certificates.k8s.io/v1',
      'coordination.k8s.io/v1',
      'discovery.k8s.io/v1',
      'events.k8s.io/v1',
      'flowcontrol.apiserver.k8s.io/v1',
      'networking.k8s.io/v1',
      'node.k8s.io/v1',
      'policy/v1',
      'rbac.authorization.k8s.io/v1',
      'resource.k8s.io/v1',
      'scheduling.k8s.io/v1',
      'storage.k8s.io/v1',
      'v1',
    ]),
    says('api-resources --api-group=', [
      'NAME                     SHORTNAMES  APIVERSION  NAMESPACED  KIND',
      'bindings                             v1          true        Binding',
      'componentstatuses        cs          v1          false       ComponentStatus',
      'configmaps               cm          v1          true        ConfigMap',
      'endpoints                ep          v1          true        Endpoints',
      'events                   ev          v1          true        Event',
      'limitranges              limits      v1          true        LimitRange',
      'namespaces               ns          v1          false       Namespace',
      'nodes                    no          v1          false       Node',
      'persistentvolumeclaims   pvc         v1          true        PersistentVolumeClaim',
      'persistentvolumes        pv          v1          false       PersistentVolume',
      'pods                     po          v1          true        Pod',
      'podtemplates                         v1          true        PodTemplate',
      'replicationcontrollers   rc          v1          true        ReplicationController',
      'resourcequotas           quota       v1          true        ResourceQuota',
      'secrets                              v1          true        Secret',
      'serviceaccounts          sa          v1          true        ServiceAccount',
      'services                 svc         v1          true        Service',
    ]),
    says('api-resources', /^horizontalpodautoscalers +hpa +autoscaling\/v[12] +true +HorizontalPodAutoscaler$/m),
    says(
      'api-resources --api-group=apps -o wide',
      [
        'NAME SHORTNAMES APIVERSION NAMESPACED KIND VERBS CATEGORIES',
        'controllerrevisions apps/v1 true ControllerRevision create,delete,deletecollection,get,list,patch,update,watch',
        'daemonsets ds apps/v1 true DaemonSet create,delete,deletecollection,get,list,patch,update,watch all',
        'deployments deploy apps/v1 true Deployment create,delete,deletecollection,get,list,patch,update,watch all',
        'replicasets rs apps/v1 true ReplicaSet create,delete,deletecollection,get,list,patch,update,watch all',
        'statefulsets sts apps/v1 true StatefulSet create,delete,deletecollection,get,list,patch,update,watch all',
      ],
      { since: '1.27' },
    ),
    says('api-resources --verbs=list,get --api-group=batch -o name', ['cronjobs.batch', 'jobs.batch']),
    says('api-resources --namespaced=false -o name', ['...', 'storageclasses.storage.k8s.io', '...']),
    says('get --raw /healthz', 'ok'),
    says('get --raw /readyz?verbose', /check passed/),
    says('get --raw /version', /"gitVersion": ?"v1\.36\./),
    says('get --raw /api/v1/namespaces/$NS', /"name": ?"\$NS"/),
    fails('get --raw /nowhere', /NotFound.*the server could not find the requested resource/),
  ],
}

export const explain: Session = {
  name: 'explain',
  steps: [
    says('explain pods', ['KIND: Pod', 'VERSION: v1', '...', 'FIELDS:', '...', '  spec <PodSpec>', '...'], {
      since: '1.27',
    }),
    says('explain pods', ['KIND: Pod', 'VERSION: v1', '...', 'FIELDS:', '...', '   spec <Object>', '...'], {
      until: '1.27',
    }),
    says('explain pods.spec.containers.image', ['KIND: Pod', 'VERSION: v1', '', 'FIELD: image <string>', '...']),
    says(
      'explain pod.spec.restartPolicy',
      [
        'KIND: Pod',
        'VERSION: v1',
        '',
        'FIELD: restartPolicy <string>',
        'ENUM:',
        '    Always',
        '    Never',
        '    OnFailure',
        '',
        'DESCRIPTION:',
        /* The words differ from server to server. */ '    <any>Always<any>',
        '...',
      ],
      { since: '1.29' },
    ),
    says('explain cronjob.spec.schedule', [
      '...',
      'KIND: CronJob',
      'VERSION: <any>v1',
      '',
      'FIELD: schedule <string><any>',
      '...',
    ]),
    says(
      'explain deployment --recursive',
      [
        '...',
        'FIELDS:',
        '...',
        '  spec <DeploymentSpec>',
        '    minReadySeconds <integer>',
        '...',
        '          imagePullPolicy <string>',
        '...',
      ],
      { since: '1.27' },
    ),
    says(
      'explain deployment --recursive',
      [
        '...',
        'FIELDS:',
        '...',
        '   spec <Object>',
        '      minReadySeconds <integer>',
        '...',
        '               imagePullPolicy <string>',
        '...',
      ],
      { until: '1.27' },
    ),
    says('explain deployments --api-version=apps/v1', /KIND: +Deployment/),
    says(
      'explain configmap --output=plaintext-openapiv2',
      ['KIND: ConfigMap', 'VERSION: v1', '...', '   binaryData <map[string]string>', '...'],
      { since: '1.27' },
    ),
    fails('explain pods.spec.nonsense', 'error: field "nonsense" does not exist'),
    fails('explain nothing', /the server doesn't have a resource type "nothing"|couldn't find resource for/),
  ],
}

export const access: Session = {
  name: 'access',
  steps: [
    says(
      'auth whoami',
      ['ATTRIBUTE VALUE', 'Username <word>', '...', 'Groups [system:masters system:authenticated]', '...'],
      { since: '1.28' },
    ),
    says('auth whoami -o jsonpath={.status.userInfo.groups}', '["system:masters","system:authenticated"]', {
      since: '1.28',
    }),
    says('auth can-i create pods', 'yes'),
    says("auth can-i '*' '*' --all-namespaces", 'yes'),
    warns('auth can-i list nodes', ['yes', /resource 'nodes' is not namespace scoped/]),
    says('auth can-i get /healthz', 'yes'),
    says('auth can-i --list', ['Resources Non-Resource URLs Resource Names Verbs', '*.* [] [] [*]', '...']),
  ],
}
