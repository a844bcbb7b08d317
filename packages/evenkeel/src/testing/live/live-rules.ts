/**
 * Rules that need no exploration, for a program that runs: what a single request shows is told as it happens.
 *
 * @example
 * const manager = new Manager({ name: 'websites', config, log, rules: liveRules({ log }), endpoints: { port: 8080 } })
 * // http://localhost:8080/debug/rules lists what was found
 *
 * Each thing is told once, however often it happens; how often is counted. Nothing is refused and nothing slowed down:
 * bodies are looked at only of updates and merge patches.
 */
import { silentLogger, type Logger } from '#base'
import type { RequestRules } from '#manager'
import { readRequestInfo } from '../requests.ts'
import { lintRequest } from '../rules/conflicts.ts'
import type { Finding } from '../rules/rule.ts'

export interface LiveFinding extends Omit<Finding, 'step' | 'diff'> {
  /** How often it was seen. */
  readonly seen: number
}

/** So many different things are remembered. */
const findingsMax = 200

export interface LiveRulesOptions {
  /** Hears of each thing once, as a warning. @default silent */
  readonly log?: Logger
  /** Hears of each thing once. @default nobody */
  readonly onFinding?: (finding: LiveFinding) => void
}

export interface LiveRules extends RequestRules {
  findings(): readonly LiveFinding[]
}

export function liveRules({ log = silentLogger, onFinding }: LiveRulesOptions = {}): LiveRules {
  const found = new Map<string, LiveFinding>()
  const tell = (finding: Omit<Finding, 'step'>): void => {
    const key = `${finding.rule} ${finding.about}`
    const known = found.get(key)
    if (!known && found.size >= findingsMax) return
    const now: LiveFinding = { ...finding, seen: (known?.seen ?? 0) + 1 }
    found.set(key, now)
    if (known) return
    log.warn(`rule ${finding.rule}: ${finding.message}`, {
      about: finding.about,
      ...(finding.hint !== undefined && { hint: finding.hint }),
    })
    onFinding?.(now)
  }
  return {
    findings: () => [...found.values()],
    onRequest(request, { grants }) {
      const requestInfo = readRequestInfo(request)
      const lint = lintRequest(request, requestInfo, { who: 'this program' })
      if (lint) tell(lint)
      if (!(requestInfo.isWrite || requestInfo.isRead || requestInfo.isWatch)) return
      const what =
        requestInfo.subresource === '' ? requestInfo.resource : `${requestInfo.resource}/${requestInfo.subresource}`
      if (grants({ verb: requestInfo.verb, group: requestInfo.group, resource: what })) return
      tell({
        rule: 'privilege',
        severity: 'warning',
        about: `${requestInfo.verb} ${what}`,
        message: `${requestInfo.verb} ${what} in group "${requestInfo.group}" is not among the permissions that the declarations ask for`,
        hint: 'add it to `rbac` of the controller',
      })
    },
  }
}
