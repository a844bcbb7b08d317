/**
 * A custom resource for one case: its own CRD, and shorthand for requests.
 *
 * The group is named after the namespace of the case, so that CRDs of different cases never conflict. A real server
 * applies a CRD some time after its response: the functions here wait until it is active.
 */
import { SystemClock, sleep } from 'evenkeel/unstable/base'
import type { Answer, Loose } from './answer.ts'
import type { AskOptions } from './client.ts'
import { ok } from './expect.ts'
import { applyType, patchTypes } from './target.ts'
import type { Place } from './target.ts'
import type { Fields } from './samples.ts'
import type { WatchStream } from './watch-stream.ts'

export interface CustomOptions {
  /** The schema of `spec`; shorthand for a root with only this property. */
  readonly spec?: Fields
  /** The schema of the whole object; overrides `spec`. */
  readonly schema?: Fields
  /** More fields of the only version `v1`: subresources, columns, rules. */
  readonly version?: Fields
  /** All versions, instead of `v1`; each gets the schema unless it has its own. */
  readonly versions?: readonly Fields[]
  /** Merged over the names Widget, widgets, widget. */
  readonly names?: Fields
  readonly scope?: 'Namespaced' | 'Cluster'
  /** More fields of the CRD spec. */
  readonly more?: Fields
}

interface ApplyOptions extends AskOptions {
  /** @default 'a' */
  readonly manager?: string
  /** @default false */
  readonly force?: boolean
  /** A subresource, for instance `status`. */
  readonly part?: string
  /** @default 'v1' */
  readonly version?: string
}

/** A request may be repeated until its response is as expected, up to the patience of the client. */
const pauseMs = 20
const clock = new SystemClock()

/** Accepts everything and prunes nothing. */
export const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const

/** The most of the patience that one attempt uses up: a busy machine gets as many attempts as an idle one. */
const attemptMsMax = 200

/** Repeats a request until the response matches, for 30 seconds of attempts by default. @throws {Error} When it never does. */
export async function eventually(
  ask: () => Promise<Answer>,
  fits: (answer: Answer) => boolean,
  { patienceMs = 30_000 }: { patienceMs?: number } = {},
): Promise<Answer> {
  for (let usedMs = 0; ;) {
    const beganMs = clock.monotonic()
    const answer = await ask()
    if (fits(answer)) return answer
    if (usedMs > patienceMs) throw new Error(`the response never matched: ${answer}`)
    await sleep(clock, pauseMs)
    usedMs += Math.min(clock.monotonic() - beganMs, attemptMsMax)
  }
}

export function groupIn(place: Place): string {
  return `${place.namespace}.example.com`
}

/** The CRD of the widgets, as a client sends it. */
export function definitionIn(
  place: Place,
  { spec = anything, schema, version = {}, versions, names = {}, scope = 'Namespaced', more = {} }: CustomOptions = {},
): Fields {
  const openAPIV3Schema = schema ?? { type: 'object', properties: { spec, status: anything } }
  const all = versions ?? [{ name: 'v1', served: true, storage: true, ...version }]
  const group = groupIn(place)
  const plural = (names['plural'] as string | undefined) ?? 'widgets'
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind: 'Widget', plural, ...names },
      versions: all.map((one) => ({ schema: { openAPIV3Schema }, ...one })),
      ...more,
    },
  }
}

/** Whether a CRD condition has this status. */
export function hasCondition(definition: Loose, type: string, status = 'True'): boolean {
  const { conditions } = (definition.status ?? {}) as {
    conditions?: readonly { type: string; status: string }[] | null
  }
  return (conditions ?? []).some((one) => one.type === type && one.status === status)
}

/** Creates the CRD of the widgets and waits until they are served. */
export async function defineCustom(place: Place, options: CustomOptions = {}): Promise<Custom> {
  const body = definitionIn(place, options)
  const {
    metadata: { name },
    spec,
  } = ok(await place.post('customresourcedefinitions', body), 201)
  const custom = new Custom(place, {
    name,
    plural: (spec['names'] as { plural: string }).plural,
    scope: options.scope ?? 'Namespaced',
    kind: (spec['names'] as { kind: string }).kind,
  })
  await custom.established()
  return custom
}

interface Identity {
  readonly name: string
  readonly plural: string
  readonly kind: string
  readonly scope: 'Namespaced' | 'Cluster'
}

/** Requests for one custom resource; objects use version `v1` by default. */
export class Custom {
  readonly place: Place
  readonly group: string
  /** The name of the CRD. */
  readonly name: string
  readonly plural: string
  readonly kind: string
  readonly #scope: 'Namespaced' | 'Cluster'

  constructor(place: Place, { name, plural, kind, scope }: Identity) {
    this.place = place
    this.group = groupIn(place)
    this.name = name
    this.plural = plural
    this.kind = kind
    this.#scope = scope
  }

  path(name?: string, version = 'v1'): string {
    const where = this.#scope === 'Cluster' ? '' : `/namespaces/${this.place.namespace}`
    const collection = `/apis/${this.group}/${version}${where}/${this.plural}`
    return name === undefined ? collection : `${collection}/${name}`
  }

  /** A widget as a client sends it. */
  object(name: string, fields: Fields = {}, version = 'v1'): Fields {
    const { metadata = {}, ...rest } = fields
    return {
      apiVersion: `${this.group}/${version}`,
      kind: this.kind,
      metadata: { name, ...(metadata as Fields) },
      ...rest,
    }
  }

  request(
    method: string,
    name: string | undefined,
    { version = 'v1', ...options }: AskOptions & { version?: string } = {},
  ): Promise<Answer> {
    return this.place.client.request(method, this.path(name, version), options)
  }

  create(
    name: string,
    fields: Fields = {},
    { version = 'v1', ...options }: AskOptions & { version?: string } = {},
  ): Promise<Answer> {
    return this.request('POST', undefined, { ...options, version, body: this.object(name, fields, version) })
  }

  get(name: string, version = 'v1'): Promise<Answer> {
    return this.request('GET', name, { version })
  }

  list(query: NonNullable<AskOptions['query']> = {}, options: AskOptions & { version?: string } = {}): Promise<Answer> {
    return this.request('GET', undefined, { ...options, query })
  }

  /** Replaces the current object; the resourceVersion comes from a read. */
  async put(
    name: string,
    fields: Fields,
    { version = 'v1', ...options }: AskOptions & { version?: string } = {},
  ): Promise<Answer> {
    const {
      metadata: { resourceVersion },
    } = ok(await this.get(name.split('/')[0] ?? '', version))
    const { metadata = {}, ...rest } = fields
    const body = this.object(
      name.split('/')[0] ?? '',
      { ...rest, metadata: { resourceVersion, ...(metadata as Fields) } },
      version,
    )
    return this.request('PUT', name, { ...options, version, body })
  }

  /** A merge patch by default. */
  patch(
    name: string,
    body: unknown,
    { type = patchTypes.merge, ...options }: AskOptions & { version?: string } = {},
  ): Promise<Answer> {
    return this.request('PATCH', name, { ...options, type, body })
  }

  apply(
    name: string,
    fields: Fields = {},
    { manager = 'a', force, part, version = 'v1', query = {}, ...options }: ApplyOptions = {},
  ): Promise<Answer> {
    const path = part === undefined ? name : `${name}/${part}`
    return this.request('PATCH', path, {
      type: applyType,
      body: this.object(name, fields, version),
      ...options,
      version,
      query: { fieldManager: manager, ...(force === undefined ? {} : { force }), ...query },
    })
  }

  delete(name: string): Promise<Answer> {
    return this.request('DELETE', name)
  }

  watch(
    query: NonNullable<AskOptions['query']> = {},
    options: AskOptions & { version?: string } = {},
  ): Promise<WatchStream> {
    const { version = 'v1', ...rest } = options
    return this.place.client.watch(this.path(undefined, version), { ...rest, query })
  }

  /** The stored CRD. */
  async definition(): Promise<Loose> {
    return ok(await this.place.get('customresourcedefinitions', this.name), 200)
  }

  /** Resolves when the CRD is established and its served versions respond. */
  async established(): Promise<void> {
    const answer = await eventually(
      () => this.place.get('customresourcedefinitions', this.name),
      ({ json }) => hasCondition(json, 'Established'),
    )
    for (const { name, served } of answer.json.spec['versions'] as readonly { name: string; served: boolean }[]) {
      if (served)
        await eventually(
          () => this.list({}, { version: name }),
          ({ status }) => status === 200,
        )
    }
  }

  /** Changes the CRD and waits until the server applies it, which a new column shows. */
  async change(edit: (spec: DefinitionDraft) => void): Promise<void> {
    const mark = `Mark${clock.monotonic()}`.replace('.', '')
    const answer = await eventually(
      () =>
        this.#tryChange((spec) => {
          edit(spec)
          for (const one of spec.versions)
            one['additionalPrinterColumns'] = [{ name: mark, type: 'string', jsonPath: '.metadata.name' }]
        }),
      ({ status }) => status !== 409,
    )
    const served = (ok(answer, 200).spec['versions'] as readonly { name: string; served: boolean }[]).find(
      (one) => one.served,
    )
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    if (served)
      await eventually(
        () => this.list({}, { version: served.name, accept }),
        ({ text }) => text.includes(mark),
      )
  }

  /** Changes the CRD once and returns any response. */
  async #tryChange(edit: (spec: DefinitionDraft) => void): Promise<Answer> {
    const draft = structuredClone(await this.definition()) as unknown as { spec: DefinitionDraft }
    edit(draft.spec)
    return this.place.put('customresourcedefinitions', this.name, { body: draft })
  }

  /** A change that the server is expected to reject, or whose effect is not awaited. */
  async tryChange(edit: (spec: DefinitionDraft) => void): Promise<Answer> {
    return eventually(
      () => this.#tryChange(edit),
      ({ status }) => status !== 409,
    )
  }
}

/** The spec of a CRD, to be changed. */
interface DefinitionDraft {
  names: Record<string, unknown>
  versions: VersionDraft[]
  [field: string]: unknown
}

interface VersionDraft {
  name: string
  served: boolean
  storage: boolean
  schema: { openAPIV3Schema: { properties: Record<string, Record<string, unknown>>; [field: string]: unknown } }
  [field: string]: unknown
}

/** Sets another schema of `spec` in every version. */
export function withSpec(spec: Fields): (draft: DefinitionDraft) => void {
  return ({ versions }) => {
    for (const {
      schema: { openAPIV3Schema },
    } of versions)
      openAPIV3Schema.properties['spec'] = { ...spec }
  }
}
