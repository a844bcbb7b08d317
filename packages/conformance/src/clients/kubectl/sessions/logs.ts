/**
 * The log of Pods, which the program around the server answers: a line per state, and with `-f` each later one until the Pod is gone.
 */
import type { Session } from '../session.ts'
import { says, warns } from '../steps.ts'

const pod = `apiVersion: v1
kind: Pod
metadata: {name: web, labels: {line: first}}
spec: {containers: [{name: app, image: x}, {name: side, image: x}]}
`

export const podLogs: Session = {
  name: 'pod-logs',
  files: { 'pod.yaml': pod },
  steps: [
    says('create -f pod.yaml', 'pod/web created'),
    says('logs web -c app', 'web is first'),
    says('get --raw /api/v1/namespaces/$NS/pods/web/log?container=side', 'web is first'),
    {
      run: 'logs -f web -c app',
      during: {
        ready: /web is first/,
        steps: [
          says('label pod web line=second --overwrite', 'pod/web labeled'),
          warns('delete pod web --grace-period=0 --force', [/pod "web" force deleted/, /Immediate deletion/]),
        ],
      },
      expect: { out: /^web is first\nweb is second\n/ },
    },
  ],
}
