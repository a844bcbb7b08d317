/**
 * Makes the mutants of right controllers: every operator at every place, each mutant a whole source text.
 *
 * An id is `controller:operator:line:column` of the changed place, with a number when there are several: it stays the
 * same as long as the source does.
 */
import ts from 'typescript'
import { toJavaScript } from './modules.ts'
import { operators } from './operators.ts'
import type { Operator } from './operators.ts'
import { planted } from './planted.ts'
import type { RightController } from './right-controllers.ts'
import { applyEdits, Source } from './source.ts'
import type { Edit, Mutation } from './source.ts'

export interface GeneratedMutant {
  readonly id: string
  readonly controller: string
  readonly operator: string
  readonly changes: Operator['changes']
  /** The changed place before and after, for people. */
  readonly change: string
  /** The path that relative imports start from. */
  readonly path: string
  readonly text: string
  /** The same with a call of `__reached` at the changed place. */
  readonly probed: string
  /** It has the same JavaScript as the original, or as another mutant with this id. */
  readonly sameAs?: string
}

export function mutantsOf({ id: controller, path, text }: RightController): GeneratedMutant[] {
  const source = new Source(path, text)
  const ids = new Set<string>()
  const seen = new Map([[toJavaScript(text, path), 'the original']])
  const all = operators.flatMap(({ name, changes, apply }) =>
    apply(source).map((mutation) => ({ operator: name, changes, mutation })),
  )
  return [...plantedIn(controller, source), ...all].map(({ operator, changes, mutation }) => {
    const id = uniqueId(`${controller}:${operator}:${placeOf(source, mutation.at)}`, ids)
    const mutated = applyEdits(text, mutation.edits)
    const javaScript = toJavaScript(mutated, path)
    const sameAs = seen.get(javaScript)
    seen.set(javaScript, sameAs ?? id)
    return {
      id,
      controller,
      operator,
      changes,
      change: describe(text, mutation.edits),
      path,
      text: mutated,
      probed: applyEdits(text, withProbe(source, mutation)),
      ...(sameAs !== undefined && { sameAs }),
    }
  })
}

/** Mistakes that a person has planted: a text in the place of another. */
function plantedIn(
  controller: string,
  source: Source,
): { operator: string; changes: Operator['changes']; mutation: Mutation }[] {
  return planted
    .filter((one) => one.controller === controller)
    .map(({ mistake, edits: planned }) => {
      const edits = planned.map(([from, text]) => {
        const start = source.text.indexOf(from)
        if (start < 0 || source.text.includes(from, start + 1))
          throw new Error(`${controller}: cannot plant "${mistake}": ${JSON.stringify(from)} is not there exactly once`)
        return { start, end: start + from.length, text }
      })
      // A change of several places is as good as reached: it has no probe.
      return { operator: 'planted', changes: 'way', mutation: { at: source.factory, edits } }
    })
}

function uniqueId(id: string, ids: Set<string>): string {
  let unique = id
  for (let number = 2; ids.has(unique); number++) unique = `${id}:${number}`
  ids.add(unique)
  return unique
}

function placeOf({ file }: Source, node: ts.Node): string {
  const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file))
  return `${line + 1}:${character + 1}`
}

function describe(text: string, edits: readonly Edit[]): string {
  const short = (part: string): string => {
    const line = part.replaceAll(/\s+/g, ' ').trim()
    return line.length > 90 ? `${line.slice(0, 87)}...` : line
  }
  const replaced = edits.filter(({ start, end }) => end > start)
  return (replaced.length > 0 ? replaced : edits)
    .map(({ start, end, text: now }) => `${short(text.slice(start, end))} => ${short(now)}`)
    .join('; ')
}

// Without the first semicolon it would continue the statement before.
const probe = ';(globalThis as { __reached?: () => void }).__reached?.();'

/** The edits, and a call that reports that the changed place was reached. A place outside of functions is always reached. */
function withProbe(source: Source, { at, edits }: Mutation): readonly Edit[] {
  for (let node = at; node.parent; node = node.parent) {
    if (ts.isFunctionLike(node) && node !== at && !ts.isArrowFunction(node)) return edits
    if (!ts.isStatement(node) || ts.isBlock(node)) continue
    if (ts.isBlock(node.parent)) return [...edits, source.insertBefore(node, probe)]
    if (!ts.isSourceFile(node.parent))
      return [...edits, source.insertBefore(node, `{ ${probe} `), { start: node.end, end: node.end, text: ' }' }]
  }
  return edits
}

/** Whether a mutant has a probe: without one its place is always reached. */
export function hasProbe({ probed, text }: Pick<GeneratedMutant, 'probed' | 'text'>): boolean {
  return probed !== text
}
