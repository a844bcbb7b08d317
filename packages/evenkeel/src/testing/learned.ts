/**
 * Learned masks: the places of a world that differ between undisturbed schedules.
 *
 * The scenario runs undisturbed with other random numbers, other uids, generations and resource versions, at another
 * time, and with external services that others use as well (nature.ts). What differs there differs by nature: a serial
 * number, an allotted address, a password, a name that contains one of them. Only these places are left out of
 * comparisons, and of a text only the part that differs. Nothing is left out because of the name of a field.
 *
 * Example: a program makes a Secret for every Certificate, from the answer of an issuer that counts.
 *
 *     undisturbed       Secret default/web   data.crt   "web.example.com, serial 1"
 *     as a variant      Secret default/web   data.crt   "web.example.com, serial 4"
 *     mask              Secret default/web   data.crt   "web.example.com, serial *"
 *
 * A schedule in which the serial is 9 is then the same as the undisturbed one; with another host name it is not.
 */
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from '#api'
import { isDrifted } from './foreign-writes.ts'
import type { Snapshot } from './snapshot.ts'
import { templateOf, wordsOf, type Template } from './templates.ts'

/** The places of one snapshot: objects of the API server, or resources of external services. */
type Section = 'objects' | 'external'

/** What a schedule shows of the world in a quiet state. */
export interface Shown {
  /** What users have asked for, by object. */
  readonly wishes: Snapshot
  readonly objects: Snapshot
  readonly external: Snapshot
}

const sections: readonly Section[] = ['objects', 'external']

interface Names {
  readonly templates: Template[]
  /** Names that are the same in all undisturbed schedules. */
  readonly stable: Set<string>
  /** Names that are others in at least one of them. */
  readonly changing: Set<string>
}

export class Masks {
  readonly #names = new Map<string, Names>()
  /** Names that follow from the time at which something was due. */
  readonly #dueNames = new Map<string, Names>()
  readonly #paths = new Map<string, Map<string, Template[]>>()

  /**
   * Learns from a quiet state and the same one of a variant.
   *
   * @param others what services have of others in that variant
   */
  learn(first: Shown, { wishes, objects, external }: Shown, others?: Pick<Shown, 'external'>): void {
    const variant = { wishes, objects, external: others ? without(external, others.external) : external }
    const anchors = new Set([...first.wishes.values()].flat().flatMap(wordsOf))
    for (const section of sections) learnNames(this.#names, [first, variant], { section, anchors })
    for (const section of sections) {
      const [one, other] = [this.#renamed(first[section], section), this.#renamed(variant[section], section)]
      for (const [about, values] of one)
        for (const [value, counterpart] of pairs(values, other.get(about) ?? [], distance))
          this.#learnPaths(about, [value, counterpart], anchors)
    }
  }

  /** Learns which names follow from time, from a quiet state and the same one of a schedule at another time. */
  learnDue(first: Shown, variant: Shown): void {
    const anchors = new Set([...first.wishes.values()].flat().flatMap(wordsOf))
    for (const section of sections) learnNames(this.#dueNames, [first, variant], { section, anchors })
  }

  /** The name of an object or an external resource, without the part that differs by nature. */
  nameOf(about: string, section: Section): string {
    return nameIn(this.#names, about, section)
  }

  /** Whether the object or external resource was made because something was due, and its name follows from that time. */
  isDue(about: string, section: Section): boolean {
    return nameIn(this.#dueNames, about, section) !== about
  }

  /** The snapshot without what differs by nature. */
  masked(snapshot: Snapshot, section: Section): Snapshot {
    const found = new Map<string, readonly string[]>()
    for (const [about, values] of this.#renamed(snapshot, section))
      found.set(about, values.map((value) => this.textOf(about, value)).sort())
    return found
  }

  /** The text of an object with this name, without what differs by nature. @param prefix the path of the text in the object */
  textOf(about: string, text: string, prefix = ''): string {
    const paths = this.#paths.get(about)
    return paths ? stringifyJson(masked(parseJson(text) as JsonValue, prefix, { about, paths })) : text
  }

  /** Whether a value differs by nature. */
  isMasked(about: string, path: string): boolean {
    return this.#paths.get(about)?.has(path) ?? false
  }

  #renamed(snapshot: Snapshot, section: Section): Map<string, readonly string[]> {
    const found = new Map<string, readonly string[]>()
    for (const [about, values] of snapshot) {
      const name = this.nameOf(about, section)
      found.set(name, [...(found.get(name) ?? []), ...values])
    }
    return found
  }

  #learnPaths(about: string, [one, other]: readonly [string, string], anchors: ReadonlySet<string>): void {
    if (one === other) return
    const [first, second] = [leavesOf(about, one), leavesOf(about, other)]
    for (const [path, value] of first) {
      const counterpart = second.get(path)
      if (counterpart === undefined || counterpart === value) continue
      const paths = this.#paths.get(about) ?? new Map<string, Template[]>()
      this.#paths.set(about, paths)
      const templates = paths.get(path) ?? []
      paths.set(path, templates)
      const template = templateOf(value, counterpart, anchors)
      // The most general one first: it comes from the variant in which more differs.
      if (!templates.some(({ text }) => text === template.text)) templates.push(template)
      templates.sort((a, b) => holesIn(b) - holesIn(a))
    }
  }
}

/** The name of an object without the part that is another one in other schedules. */
function nameIn(learned: ReadonlyMap<string, Names>, about: string, section: Section): string {
  const { group, name } = split(about, section)
  const names = learned.get(group)
  if (!names || (names.stable.has(name) && !names.changing.has(name))) return about
  const template = names.templates.find((one) => one.matches(name))
  return template ? `${group}${template.text}` : about
}

function learnNames(
  learned: Map<string, Names>,
  [first, variant]: readonly [Shown, Shown],
  { section, anchors }: { section: Section; anchors: ReadonlySet<string> },
): void {
  const [one, other] = [first[section], variant[section]]
  const missing = [...one.keys()].filter((about) => !other.has(about) && !first.wishes.has(about))
  const extra = [...other.keys()].filter((about) => !one.has(about) && !variant.wishes.has(about))
  for (const about of one.keys())
    if (other.has(about)) namesIn(learned, about, section).stable.add(split(about, section).name)
  for (const group of new Set(missing.map((about) => split(about, section).group))) {
    const of = (abouts: readonly string[]): string[] => abouts.filter((about) => split(about, section).group === group)
    const between = (a: string, b: string): number => distance(one.get(a)?.join() ?? '', other.get(b)?.join() ?? '')
    for (const [a, b] of pairs(of(missing), of(extra), between)) {
      const template = templateOf(split(a, section).name, split(b, section).name, anchors)
      const { templates, changing } = namesIn(learned, a, section)
      changing.add(split(a, section).name)
      if (!templates.some(({ text }) => text === template.text)) templates.unshift(template)
    }
  }
}

function namesIn(learned: Map<string, Names>, about: string, section: Section): Names {
  const { group } = split(about, section)
  const names = learned.get(group) ?? { templates: [], stable: new Set(), changing: new Set() }
  learned.set(group, names)
  return names
}

interface Place {
  readonly about: string
  readonly paths: ReadonlyMap<string, readonly Template[]>
}

function masked(value: JsonValue, path: string, place: Place): JsonValue {
  if (Array.isArray(value)) return value.map((item, index) => masked(item, `${path}[${index}]`, place))
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]): [string, JsonValue] => [
        key,
        masked(inner ?? null, path === '' ? key : `${path}.${key}`, place),
      ]),
    )
  const templates = place.paths.get(path)
  if (!templates) return value
  const text = leafText(place.about, path, value)
  // Another client changed it: a value that was drawn or received once cannot be restored.
  const template = isDrifted(value) ? templates[0] : templates.find((one) => one.matches(text))
  if (!template) return value
  return isEncoded(place.about, path, value) ? Buffer.from(template.text).toString('base64') : template.text
}

/** The texts of all fields of an object, by path. */
function leavesOf(about: string, text: string): Map<string, string> {
  const found = new Map<string, string>()
  const add = (value: JsonValue, path: string): void => {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) add(item, `${path}[${index}]`)
    else if (isJsonObject(value))
      for (const [key, inner] of Object.entries(value)) add(inner ?? null, path === '' ? key : `${path}.${key}`)
    else found.set(path, leafText(about, path, value))
  }
  add(parseJson(text) as JsonValue, '')
  return found
}

function leafText(about: string, path: string, value: JsonValue): string {
  if (typeof value !== 'string') return stringifyJson(value)
  return isEncoded(about, path, value) ? Buffer.from(value, 'base64').toString() : value
}

/** Readable text in base64, as in a Secret: its parts are compared. */
function isEncoded(about: string, path: string, value: JsonValue): value is string {
  if (!about.startsWith('Secret ') || !path.startsWith('data.') || typeof value !== 'string') return false
  const text = Buffer.from(value, 'base64').toString()
  return Buffer.from(text).toString('base64') === value && !text.includes('\uFFFD')
}

function holesIn({ text, isBlank }: Template): number {
  return isBlank ? Infinity : text.split('*').length
}

/** The resources that do not belong to others. */
function without(external: Snapshot, others: Snapshot): Snapshot {
  const found = new Map<string, readonly string[]>()
  for (const [about, values] of external) {
    const theirs = others.get(about) ?? []
    const own = split(about, 'external').name === '' ? values.filter((value) => !theirs.includes(value)) : values
    if (theirs.length === 0 || own !== values) found.set(about, own)
  }
  return found
}

/** `Secret default/` and `web`; `cloud buckets ` and `web`. */
function split(about: string, section: Section): { readonly group: string; readonly name: string } {
  const pattern = section === 'objects' ? /^(\S+ (?:[^/]+\/)?)(.*)$/s : /^(\S+ \S+ )(.*)$/s
  const [, group = about, name = ''] = pattern.exec(about) ?? []
  return { group, name }
}

/** How many fields of two objects differ. */
function distance(one: string, other: string): number {
  if (one === other || one === '' || other === '') return one === other ? 0 : Infinity
  const [first, second] = [leavesOf('', one), leavesOf('', other)]
  return [...new Set([...first.keys(), ...second.keys()])].filter((path) => first.get(path) !== second.get(path)).length
}

/** Each value with the closest of the others. */
function pairs(
  values: readonly string[],
  others: readonly string[],
  between: (one: string, other: string) => number,
): [string, string][] {
  const left = [...others]
  return values.flatMap((value): [string, string][] => {
    if (left.length === 0) return []
    const distances = left.length === 1 ? [0] : left.map((other) => between(value, other))
    const [other = ''] = left.splice(distances.indexOf(Math.min(...distances)), 1)
    return [[value, other]]
  })
}
