/**
 * A YAML file as values that know their line and their path.
 *
 * A reader takes the fields that it maps with `take`; `rest` then has those that it did not. Aliases and merge keys (`<<`) are
 * resolved where a value is read, so a field that comes by a merge key is found as if it were written there:
 *
 *   x-base: &base { restart: always }
 *   services:
 *     web: { <<: *base, image: nginx }        take('restart') is `always`, at the line of x-base
 *
 * Invariant: a text is returned as it is written (`8080`, `yes`, `1.10`), never as the number or the truth value that YAML sees in it.
 */
import type * as Yaml from 'yaml'
import type { Findings, Place } from './finding.ts'

/** How a value differs from the text that is written: variables that are replaced. */
export type Expansion = (text: string, place: Place) => string

interface YamlContext {
  readonly file: string
  readonly library: typeof Yaml
  readonly document: Yaml.Document
  readonly lines: Yaml.LineCounter
  readonly findings: Findings
  readonly expand: Expansion | undefined
}

interface ParseOptions {
  readonly file: string
  readonly findings: Findings
  readonly expand?: Expansion
}

const bytesMax = 1024 * 1024

/** The documents of a file. What cannot be read is an error in the findings, with what to write instead. */
export async function parseYaml(text: string, { file, findings, expand }: ParseOptions): Promise<readonly YamlValue[]> {
  if (Buffer.byteLength(text) > bytesMax) {
    findings.error({ file, line: 1, path: '' }, `the file is larger than ${bytesMax} bytes: split it`)
    return []
  }
  // Only a program that reads such a file waits for the library.
  const library = await import('yaml')
  const lines = new library.LineCounter()
  const documents = library.parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
  const parsed = Array.isArray(documents) ? (documents as readonly Yaml.Document[]) : []
  const values: YamlValue[] = []
  for (const document of parsed) {
    for (const error of document.errors) {
      const { line } = lines.linePos(error.pos[0])
      findings.error({ file, line, path: '' }, describeError(error, text.split('\n')[line - 1] ?? ''))
    }
    if (document.errors.length === 0 && document.contents !== null)
      values.push(new YamlValue(document.contents, { path: '' }, { file, library, document, lines, findings, expand }))
  }
  return values
}

function describeError({ code, message }: Yaml.YAMLError, line: string): string {
  if (code === 'TAB_AS_INDENT' || /^\s*\t/.test(line))
    return 'a tab stands at the beginning of the line: YAML is indented with spaces, replace the tab by two'
  if (code === 'DUPLICATE_KEY') return 'the same field is there twice: remove one'
  return message.split('\n')[0] ?? message
}

/** The nodes of a map, by name. */
type Pairs = ReadonlyMap<string, { readonly key: Yaml.Node | undefined; readonly value: Yaml.Node | undefined }>

interface YamlPlace {
  readonly path: string
  /** Of the name before the value. @default that of the value */
  readonly line?: number | undefined
}

export class YamlValue implements Place {
  readonly path: string
  readonly #node: Yaml.Node | undefined
  readonly #context: YamlContext
  readonly #line: number | undefined
  readonly #taken = new Set<string>()
  #pairs: Pairs | undefined
  #text: string | undefined

  constructor(node: unknown, { path, line }: YamlPlace, context: YamlContext) {
    const { library, document } = context
    const given = library.isNode(node) ? node : undefined
    this.#node = given && library.isAlias(given) ? (given.resolve(document) as Yaml.Node | undefined) : given
    this.path = path
    this.#context = context
    this.#line = line
  }

  get file(): string {
    return this.#context.file
  }

  get line(): number {
    if (this.#line !== undefined) return this.#line
    const start = this.#node?.range?.[0]
    return start === undefined ? 1 : this.#context.lines.linePos(start).line
  }

  get findings(): Findings {
    return this.#context.findings
  }

  get isMap(): boolean {
    return this.#context.library.isMap(this.#node)
  }

  get isList(): boolean {
    return this.#context.library.isSeq(this.#node)
  }

  /** Nothing is written: `key:`. */
  get isEmpty(): boolean {
    return this.#node === undefined || (this.#context.library.isScalar(this.#node) && this.#node.value === null)
  }

  /** A scalar as it is written, with its variables replaced; undefined for anything else. */
  get text(): string | undefined {
    const node = this.#node
    if (!this.#context.library.isScalar(node) || node.value === null) return undefined
    const written = typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))
    // Once: what is wrong with its variables is reported once.
    this.#text ??= this.#context.expand?.(written, this) ?? written
    return this.#text
  }

  /** A field of a map, which then counts as mapped. */
  take(name: string): YamlValue | undefined {
    this.#taken.add(name)
    const pair = this.#fields().get(name)
    if (!pair) return undefined
    const value = this.#child(name, pair)
    return value.isEmpty ? undefined : value
  }

  /** All fields of a map; they count as mapped. */
  entries(): readonly (readonly [name: string, value: YamlValue])[] {
    return [...this.#fields()].map(([name, pair]) => {
      this.#taken.add(name)
      return [name, this.#child(name, pair)] as const
    })
  }

  /** The items of a list. */
  items(): readonly YamlValue[] {
    const { library } = this.#context
    if (!library.isSeq(this.#node)) return []
    return this.#node.items.map((item, index) => new YamlValue(item, { path: `${this.path}[${index}]` }, this.#context))
  }

  /** The fields that no one took. */
  rest(): readonly YamlValue[] {
    return [...this.#fields()].flatMap(([name, pair]) => (this.#taken.has(name) ? [] : [this.#child(name, pair)]))
  }

  /** As plain data, as YAML understands it. */
  data(): unknown {
    return this.#node?.toJS(this.#context.document, { maxAliasCount: 100 }) as unknown
  }

  warn(message: string): void {
    this.findings.warn(this, message)
  }

  error(message: string): void {
    this.findings.error(this, message)
  }

  #child(name: string, { key, value }: { readonly key: Yaml.Node | undefined; readonly value: Yaml.Node | undefined }) {
    const start = key?.range?.[0]
    const line = start === undefined ? undefined : this.#context.lines.linePos(start).line
    const path = this.path === '' ? name : `${this.path}.${name}`
    return new YamlValue(value, { path, line }, this.#context)
  }

  #fields(): Pairs {
    this.#pairs ??= pairsOf(this.#node, this.#context, 0)
    return this.#pairs
  }
}

/** How deep merge keys may be nested. */
const mergesMax = 20

/** The fields of a map; those of merge keys come first, so that the own ones win. */
function pairsOf(node: Yaml.Node | undefined, context: YamlContext, depth: number): Pairs {
  const { library, document } = context
  const pairs = new Map<string, { key: Yaml.Node | undefined; value: Yaml.Node | undefined }>()
  if (!library.isMap(node) || depth > mergesMax) return pairs
  const own = node.items.map((pair) => ({
    name: nameOf(pair.key, library),
    ...(pair as { key: unknown; value: unknown }),
  }))
  for (const { value } of own.filter(({ name }) => name === '<<')) {
    const sources = library.isSeq(value) ? value.items : [value]
    // Of several maps the first one wins.
    for (const source of sources.toReversed()) {
      const resolved = library.isAlias(source) ? source.resolve(document) : source
      if (!library.isNode(resolved)) continue
      for (const [name, pair] of pairsOf(resolved, context, depth + 1)) pairs.set(name, pair)
    }
  }
  for (const { name, key, value } of own)
    if (name !== '<<')
      pairs.set(name, {
        key: library.isNode(key) ? key : undefined,
        value: library.isNode(value) ? value : undefined,
      })
  return pairs
}

function nameOf(key: unknown, library: typeof Yaml): string {
  return library.isScalar(key) ? (key.source ?? String(key.value)) : String(key)
}
