/**
 * Somebody who looks at the requests of a running program and says what is wrong with them.
 */
import type { ClientOptions } from '#client'
import type { Rbac } from './access/roles.ts'

type Transport = ClientOptions['transport']

/** What a request asks to be allowed. */
export interface Grant {
  readonly verb: string
  readonly group: string
  /** With its subresource: `pods/status`. */
  readonly resource: string
}

export interface RequestRules {
  /** Every request, before it is sent. `grants`: whether the program says that it needs this. */
  onRequest(request: Parameters<Transport>[0], facts: { grants(grant: Grant): boolean }): void
  /** What was found so far, as plain data. */
  findings(): readonly object[]
}

/** The same transport, whose requests are looked at first; whoever looks never stands in the way. */
export function inspectRequests(transport: Transport, rules: RequestRules, rbac: () => Rbac): Transport {
  // Controllers may be added later: only what is granted stays so.
  const granted = new Set<string>()
  const grants = ({ verb, group, resource }: Grant): boolean => {
    const key = `${verb} ${group}/${resource}`
    if (granted.has(key)) return true
    const asked = rbac().scopes.flatMap((scope) => scope.rules)
    const isGranted =
      asked.length === 0 ||
      asked.some(
        ({ apiGroups, resources, verbs }) => has(apiGroups, group) && has(resources, resource) && has(verbs, verb),
      )
    if (isGranted) granted.add(key)
    return isGranted
  }
  return (request) => {
    rules.onRequest(request, { grants })
    return transport(request)
  }
}

function has(list: readonly string[], word: string): boolean {
  return list.includes('*') || list.includes(word)
}
