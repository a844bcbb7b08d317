/**
 * Pod Security: what the labels of a namespace refuse, warn about, and accept.
 */
import assert from 'node:assert/strict'
import { eventually } from '../../custom.ts'
import { expectStatus, ok, warningsOf } from '../../expect.ts'
import { sample, type Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'
import { postPod, tryPod, withAccount } from './accounts.ts'

const prefix = 'pod-security.kubernetes.io/'
const label = (labels: Fields): Fields =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [`${prefix}${key}`, value]))

/** Sets the labels, and waits until they are in force. */
async function labelled(place: Place, labels: Fields): Promise<void> {
  await withAccount(place)
  ok(await place.patch('namespaces', place.namespace, { body: { metadata: { labels: label(labels) } } }), 200)
  await eventually(
    () => tryPod(place, { spec: { hostNetwork: true } }),
    (answer) => answer.status === 403 || warningsOf(answer).length > 0,
  )
}

const main = (securityContext: Fields, rest: Fields = {}): Fields => ({
  name: 'main',
  image: 'i',
  securityContext,
  ...rest,
})
/** A container that the level restricted accepts. */
const careful = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}

interface Violation {
  readonly id: string
  readonly level?: string
  readonly version?: string
  readonly metadata?: Fields
  readonly spec: Fields
  /** After `violates PodSecurity "LEVEL:VERSION": `; empty if it is accepted. */
  readonly text: string
}

const restricted = (rest: Fields): Fields => ({ containers: [main({ ...careful, ...rest })] })

const violations: readonly Violation[] = [
  {
    id: 'restricted-plain',
    level: 'restricted',
    spec: {},
    text: 'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  },
  { id: 'restricted-careful', level: 'restricted', spec: restricted({}), text: '' },
  {
    id: 'restricted-several',
    level: 'restricted',
    spec: {
      securityContext: { runAsUser: 0, runAsNonRoot: false, seccompProfile: { type: 'Unconfined' } },
      initContainers: [{ name: 'init', image: 'i' }],
      containers: [main({ ...careful, runAsUser: 0, capabilities: { drop: ['ALL'], add: ['SYS_ADMIN', 'KILL'] } })],
      volumes: [
        { name: 'host', hostPath: { path: '/' } },
        { name: 'nfs', nfs: { server: 's', path: '/' } },
      ],
    },
    text: 'allowPrivilegeEscalation != false (container "init" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "init" must set securityContext.capabilities.drop=["ALL"]; container "main" must not include "KILL", "SYS_ADMIN" in securityContext.capabilities.add), restricted volume types (volumes "host", "nfs" use restricted volume types "hostPath", "nfs"), runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod and container "main" must not set runAsUser=0), seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
  },
  {
    id: 'restricted-windows',
    level: 'restricted',
    spec: { os: { name: 'windows' }, securityContext: { runAsNonRoot: true } },
    text: '',
  },
  {
    id: 'restricted-user-namespace',
    level: 'restricted',
    spec: { hostUsers: false, ...restricted({ runAsNonRoot: undefined, runAsUser: 0 }) },
    text: '',
  },
  { id: 'baseline-plain', spec: {}, text: '' },
  {
    id: 'baseline-host',
    spec: { hostNetwork: true, hostPID: true, hostIPC: true, volumes: [{ name: 'host', hostPath: { path: '/' } }] },
    text: 'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true), hostPath volumes (volume "host")',
  },
  {
    id: 'baseline-ports',
    spec: {
      containers: [
        main({}, { ports: [{ containerPort: 80, hostPort: 80 }] }),
        main({}, { name: 'second', ports: [{ containerPort: 90, hostPort: 9090 }] }),
      ],
    },
    text: 'hostPort (containers "main", "second" use hostPorts 80, 9090)',
  },
  {
    id: 'baseline-privileged',
    spec: { containers: [main({ privileged: true })] },
    text: 'privileged (container "main" must not set securityContext.privileged=true)',
  },
  {
    id: 'baseline-capabilities',
    spec: { containers: [main({ capabilities: { add: ['NET_RAW', 'CHOWN', 'BPF'] } })] },
    text: 'non-default capabilities (container "main" must not include "BPF", "NET_RAW" in securityContext.capabilities.add)',
  },
  {
    id: 'baseline-proc-mount',
    spec: { hostUsers: false, containers: [main({ procMount: 'Unmasked' })] },
    text: '',
  },
  {
    id: 'baseline-selinux',
    spec: {
      securityContext: { seLinuxOptions: { type: 'spc_t', user: 'u' } },
      containers: [main({ seLinuxOptions: { role: 'r' } })],
    },
    text: 'seLinuxOptions (pod and container "main" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
  },
  {
    id: 'baseline-seccomp',
    spec: { containers: [main({ seccompProfile: { type: 'Unconfined' } })] },
    text: 'seccompProfile (container "main" must not set securityContext.seccompProfile.type to "Unconfined")',
  },
  {
    id: 'baseline-app-armor',
    spec: { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
    text: 'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")',
  },
  {
    id: 'baseline-sysctls',
    spec: {
      securityContext: {
        sysctls: [
          { name: 'net.ipv4.tcp_rmem', value: '1' },
          { name: 'kernel.msgmax', value: '1' },
        ],
      },
    },
    text: 'forbidden sysctls (kernel.msgmax)',
  },
  {
    id: 'baseline-sysctls-old',
    version: 'v1.28',
    spec: { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } },
    text: 'forbidden sysctls (net.ipv4.tcp_rmem)',
  },
  {
    id: 'baseline-probes',
    spec: {
      containers: [
        main(
          {},
          {
            livenessProbe: { httpGet: { port: 1, host: 'h' } },
            lifecycle: { preStop: { tcpSocket: { port: 1, host: 'g' } } },
          },
        ),
      ],
    },
    text: 'probe or lifecycle host (container "main" uses probe or lifecycle hosts "g", "h")',
  },
  {
    id: 'baseline-probes-old',
    version: 'v1.33',
    spec: { containers: [main({}, { livenessProbe: { httpGet: { port: 1, host: 'h' } } })] },
    text: '',
  },
  {
    id: 'baseline-windows-host',
    spec: {
      os: { name: 'windows' },
      hostNetwork: true,
      securityContext: { windowsOptions: { hostProcess: true } },
    },
    text: 'host namespaces (hostNetwork=true), hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
  },
  {
    id: 'restricted-old',
    level: 'restricted',
    version: 'v1.18',
    metadata: { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } },
    spec: { containers: [main({ capabilities: { add: ['BPF'] } })] },
    text: 'non-default capabilities (container "main" must not include "BPF" in securityContext.capabilities.add), seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined"), allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true)',
  },
]

const violationCases = violations.map(
  ({ id, level = 'baseline', version = 'latest', metadata = {}, spec, text }): ServerCase => ({
    id: `server/pod-security/${id}`,
    rule: `Pod Security ${level}:${version} ${text === '' ? 'accepts' : 'refuses'} a pod (${id}).`,
    async run(place) {
      await labelled(place, { enforce: level, 'enforce-version': version })
      const answer = await postPod(place, 'a', { metadata, spec })
      if (text === '') {
        ok(answer, 201)
        assert.deepEqual(warningsOf(answer), [])
      } else
        expectStatus(answer, {
          code: 403,
          reason: 'Forbidden',
          message: `pods "a" is forbidden: violates PodSecurity "${level}:${version}": ${text}`,
          details: { name: 'a', kind: 'pods', causes: undefined },
        })
    },
  }),
)

const hostNetwork = { hostNetwork: true }
const would = (level: string): string => `would violate PodSecurity "${level}": host namespaces (hostNetwork=true)`

const more: readonly ServerCase[] = [
  {
    id: 'server/pod-security/warn',
    rule: 'The level to warn about accepts pods with a warning.',
    async run(place) {
      await labelled(place, { warn: 'baseline' })
      const answer = await postPod(place, 'a', { spec: hostNetwork })
      ok(answer, 201)
      assert.deepEqual(warningsOf(answer), [would('baseline:latest')])
    },
  },
  {
    id: 'server/pod-security/templates',
    rule: 'Templates of workloads are accepted with a warning, also when only the level to enforce is set.',
    async run(place) {
      await labelled(place, { enforce: 'baseline' })
      const template = { spec: { template: { spec: hostNetwork } } }
      const made = {
        deployments: template,
        replicasets: template,
        statefulsets: template,
        daemonsets: template,
        replicationcontrollers: template,
        jobs: template,
        cronjobs: { spec: { jobTemplate: template } },
        podtemplates: { template: { spec: hostNetwork } },
      } as const
      for (const [resource, rest] of Object.entries(made) as [keyof typeof made, Fields][]) {
        const answer = await place.post(resource, sample(resource, 'a', rest))
        ok(answer, 201)
        assert.deepEqual(warningsOf(answer), [would('baseline:latest')], resource)
      }
    },
  },
  {
    id: 'server/pod-security/update',
    rule: 'A pod from before the label may change its labels, and not its image.',
    async run(place) {
      await withAccount(place)
      ok(await postPod(place, 'a', { spec: hostNetwork }), 201)
      await labelled(place, { enforce: 'baseline' })
      ok(await place.patch('pods', 'a', { body: { metadata: { labels: { a: 'b' } } } }), 200)
      const answer = await place.patch('pods', 'a', {
        type: 'application/strategic-merge-patch+json',
        body: { spec: { containers: [{ name: 'main', image: 'other' }] } },
      })
      expectStatus(answer, {
        code: 403,
        message: 'pods "a" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
      })
    },
  },
  {
    id: 'server/pod-security/existing-pods',
    rule: 'A stricter level is accepted with warnings about the pods of the namespace; a weaker one without.',
    async run(place) {
      await withAccount(place)
      for (const name of ['b', 'a']) ok(await postPod(place, name, { spec: hostNetwork }), 201)
      ok(await postPod(place, 'c', { spec: { containers: [main({ privileged: true })] } }), 201)
      const set = (labels: Fields): ReturnType<typeof place.patch> =>
        place.patch('namespaces', place.namespace, { body: { metadata: { labels: label(labels) } } })
      const answer = await eventually(
        () => set({ enforce: 'baseline' }),
        (one) => one.status === 200,
      )
      assert.deepEqual(warningsOf(answer), [
        `existing pods in namespace "${place.namespace}" violate the new PodSecurity enforce level "baseline:latest"`,
        'a (and 1 other pod): host namespaces',
        'c: privileged',
      ])
      assert.deepEqual(warningsOf(await set({ enforce: 'baseline' })), [])
      assert.deepEqual(warningsOf(await set({ enforce: 'privileged' })), [])
    },
  },
  {
    id: 'server/pod-security/labels',
    rule: 'Labels that cannot be read are refused when they are new or change, and kept otherwise.',
    async run(place) {
      const name = place.unique('bad')
      const labels = label({ enforce: 'strict', 'warn-version': '1.2' })
      const made = await place.post('namespaces', sample('namespaces', name, { metadata: { labels } }))
      expectStatus(made, {
        code: 422,
        reason: 'Invalid',
        message: `Namespace "${name}" is invalid: [metadata.labels[${prefix}enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, metadata.labels[${prefix}warn-version]: Invalid value: "1.2": must be "latest" or "v1.x"]`,
        details: { name, kind: 'Namespace' },
      })
      const changed = await place.patch('namespaces', place.namespace, { body: { metadata: { labels } } })
      assert.equal(changed.status, 422)
    },
  },
  {
    id: 'server/pod-security/dry-run',
    rule: 'A dry run is refused like a real request.',
    async run(place) {
      await labelled(place, { enforce: 'baseline' })
      expectStatus(await tryPod(place, { spec: hostNetwork }), { code: 403 })
    },
  },
]

export const podSecurityCases: readonly ServerCase[] = [...violationCases, ...more]
