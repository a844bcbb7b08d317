/**
 * Taints and tolerations that every node and pod starts with: a new node is not ready (TaintNodesByCondition), and a pod
 * stays for five minutes on a node that is not ready or cannot be reached (DefaultTolerationSeconds).
 */
import { objectIn, objectsIn, textIn, type JsonObject } from '#api'
import { ensureDraft } from '@evenkeel/builtins'
import type { AdmissionPlugin } from '../admission.ts'

const notReady = 'node.kubernetes.io/not-ready'
const unreachable = 'node.kubernetes.io/unreachable'
const tolerationSeconds = 300

export function defaultTolerationsPlugin(): AdmissionPlugin {
  return {
    name: 'DefaultTolerationSeconds',
    resources: new Set(['/pods']),
    handles: ({ operation, target }) =>
      (operation === 'CREATE' || operation === 'UPDATE') && target.subresource === undefined,
    mutate(draft) {
      const present = objectsIn(objectIn(draft, 'spec'), 'tolerations')
      const missing = [notReady, unreachable].filter((key) => !present.some((one) => tolerates(one, key)))
      if (missing.length > 0)
        ensureDraft(draft, 'spec')['tolerations'] = [
          ...present,
          ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds })),
        ]
      return false
    },
  }
}

function tolerates(toleration: JsonObject, key: string): boolean {
  return ['', key].includes(textIn(toleration, 'key')) && ['', 'NoExecute'].includes(textIn(toleration, 'effect'))
}

export function nodeTaintPlugin(): AdmissionPlugin {
  return {
    name: 'TaintNodesByCondition',
    resources: new Set(['/nodes']),
    handles: ({ operation, target }) => operation === 'CREATE' && target.subresource === undefined,
    mutate(draft) {
      const taints = objectsIn(objectIn(draft, 'spec'), 'taints')
      const isTainted = taints.some(
        (taint) => textIn(taint, 'key') === notReady && textIn(taint, 'effect') === 'NoSchedule',
      )
      if (!isTainted) ensureDraft(draft, 'spec')['taints'] = [...taints, { key: notReady, effect: 'NoSchedule' }]
      return false
    },
  }
}
