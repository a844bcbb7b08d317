/**
 * Least privilege: a program asks only for what its declaration says it needs.
 */
import { isJsonObject } from '#api'
import type { PolicyRule } from '#controller'
import type { RequestInfo } from '../requests.ts'
import type { World } from '../world.ts'
import type { Rule } from './rule.ts'

export const privilege: Rule = {
  code: 'privilege',
  says: 'ask only for what the declaration says you need',
  watch: (world) => {
    const told = new Set<string>()
    return {
      request(life, _request, requestInfo) {
        if (world.options.reference || !(requestInfo.isWrite || requestInfo.isRead || requestInfo.isWatch)) return
        const what =
          requestInfo.subresource === '' ? requestInfo.resource : `${requestInfo.resource}/${requestInfo.subresource}`
        const key = `${requestInfo.verb} ${what}`
        if (told.has(key)) return
        told.add(key)
        const rules = rulesOf(world, life.name)
        if (rules.length === 0 || rules.some((rule) => allows(rule, requestInfo, what))) return
        world.addFinding({
          rule: 'privilege',
          severity: 'error',
          about: key,
          message: `${key} in group "${requestInfo.group}" is not among the permissions that the declaration asks for: on a cluster it would be refused`,
          hint: 'add it to `rbac` of the controller',
        })
      },
    }
  },
}

function rulesOf(world: World, name: string): readonly PolicyRule[] {
  const manager = world.processes.find((life) => life.name === name)?.manager
  return manager?.rbac().scopes.flatMap(({ rules }) => rules) ?? []
}

function allows({ apiGroups, resources, verbs }: PolicyRule, { group, verb }: RequestInfo, what: string): boolean {
  const has = (list: readonly string[], word: string): boolean => list.includes('*') || list.includes(word)
  return has(apiGroups, group) && has(resources, what) && has(verbs, verb)
}

/*
 * Secrets: what is in a Secret is nowhere else: not in a status, not in an Event, not in a log.
 */

export const secrets: Rule = {
  code: 'secrets',
  says: 'what is in a Secret is nowhere else',
  watch: (world) => ({
    quiet({ isLast }) {
      if (isLast && !world.options.reference) judgeSecrets(world)
    },
  }),
}

function judgeSecrets(world: World): void {
  const values = secretValues(world)
  if (values.length === 0) return
  const tell = (about: string, where: string): void => {
    world.addFinding({
      rule: 'secrets',
      severity: 'error',
      about,
      message: `a value of a Secret stands in ${where}`,
      hint: 'name the Secret and the key instead of the value',
    })
  }
  for (const { actor, after } of world.history.events) {
    if (!after || after.kind === 'Secret' || !world.facts.isProcess(actor)) continue
    const text = readable(JSON.stringify(after))
    if (values.some((value) => text.includes(value)))
      tell(`${after.kind}`, `${after.kind} ${after.metadata.name ?? ''}`)
  }
  for (const { record } of world.logs) {
    const text = `${record.message} ${JSON.stringify(record.fields, (_, value: unknown) => (value instanceof Error ? `${value.message} ${String(value.cause ?? '')}` : value)) ?? ''}`
    if (values.some((value) => text.includes(value))) tell('log', `the log: ${record.message.slice(0, 60)}`)
  }
}

/** A text, and what is encoded in it. */
function readable(text: string): string {
  const decoded = (text.match(/[A-Za-z0-9+/]{12,}={0,2}/g) ?? []).map((word) => Buffer.from(word, 'base64').toString())
  return [text, ...decoded].join('\n')
}

/** Long enough not to be found by chance, as text and as it is encoded. */
function secretValues(world: World): string[] {
  const found = new Set<string>()
  for (const object of [
    ...world.facts.objects,
    ...world.history.events.flatMap(({ after }) => (after ? [after] : [])),
  ]) {
    if (object.kind !== 'Secret' || !isJsonObject(object['data'])) continue
    for (const value of Object.values(object['data']))
      for (const form of typeof value === 'string' ? formsOf(value) : []) found.add(form)
  }
  return [...found]
}

function formsOf(value: string): string[] {
  const text = Buffer.from(value, 'base64').toString()
  return text.length >= 8 ? [text, value] : []
}
