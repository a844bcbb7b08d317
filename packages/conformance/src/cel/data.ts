/**
 * The public conformance data of CEL, and how Kubernetes does on it.
 *
 * `kubernetes.json` lists the cases that Kubernetes 1.36 itself fails, by reason: every case was run with cel-go in the
 * environment of kube-apiserver for new expressions. Kubernetes passes all other cases, and so must we. The file is
 * generated, never edited.
 */
import { readFileSync } from 'node:fs'
import { tests } from '@bufbuild/cel-spec/testdata/conformance.js'
import type { Json } from './protobuf-json.ts'

/** A case as the data has it: protobuf in JSON; only the fields that we use. */
export interface CelCase {
  readonly name?: string
  readonly expr: string
  readonly checkOnly?: boolean
  readonly typeEnv?: readonly Declaration[]
  readonly bindings?: Readonly<Record<string, { readonly value: Json }>>
  readonly value?: Json
  readonly evalError?: Json
  readonly anyEvalErrors?: Json
  readonly typedResult?: { readonly result?: Json; readonly deducedType?: Json }
}

/** A variable or a function that a case declares. */
interface Declaration {
  readonly name: string
  readonly ident?: { readonly type: Json }
  readonly function?: { readonly overloads: readonly DeclaredOverload[] }
}

export interface DeclaredOverload {
  readonly overloadId: string
  readonly params?: readonly Json[]
  readonly resultType: Json
  readonly isInstanceFunction?: boolean
}

interface NamedCase {
  /** Unique: the data uses a few names twice, and the second one ends in `#2`. */
  readonly id: string
  readonly test: CelCase
}

/** Why Kubernetes does not pass a case. */
export interface Excuse {
  readonly reason: string
  readonly why: string
}

interface Suite {
  readonly name: string
  readonly suites?: readonly Suite[]
  readonly tests?: readonly { readonly original: unknown }[]
}

/** Every case, in the order of the data. */
export function readCases(): readonly NamedCase[] {
  const seen = new Map<string, number>()
  return collect(tests as Suite, []).map(({ id, test }) => {
    const count = (seen.get(id) ?? 0) + 1
    seen.set(id, count)
    return { id: count === 1 ? id : `${id}#${count}`, test }
  })
}

/** The cases that Kubernetes does not pass. */
export function readExcuses(): ReadonlyMap<string, Excuse> {
  const groups = JSON.parse(readFileSync(new URL('kubernetes.json', import.meta.url), 'utf8')) as readonly (Excuse & {
    readonly cases: readonly string[]
  })[]
  return new Map(groups.flatMap(({ reason, why, cases }) => cases.map((id) => [id, { reason, why }])))
}

function collect({ suites = [], tests: cases = [] }: Suite, path: readonly string[]): NamedCase[] {
  const own = cases
    .map(({ original }) => original as CelCase)
    .map((test) => ({ id: [...path, test.name].join('/'), test }))
  return [...own, ...suites.flatMap((suite) => collect(suite, [...path, suite.name]))]
}
