/**
 * The search: mutates the most expensive shapes and keeps what costs most per byte, for each entry point.
 *
 * What is tried has a name that says how to make it again: the shape, its n, and the seeds of its changes. The names
 * depend on the seed of the search and on what was expensive; the bytes behind a name depend on nothing else.
 *
 *   bad labels~50000~7~31      50,000 bad labels, changed by seed 7 and then by seed 31
 */
import { randomInt, SeededRandom } from 'evenkeel/unstable/base'
import type { Meter, Row } from './meter.ts'
import { mutate, pick } from './mutations.ts'
import {
  bodyBytesMax,
  bytesOf,
  isDocumentShape,
  isYaml,
  type AttackRequest,
  type DocumentShape,
  type Entry,
} from './shape.ts'
import { shapes } from './shapes.ts'

interface Recipe {
  readonly base: string
  readonly n: number
  readonly seeds: readonly string[]
}

const documents = shapes.filter(isDocumentShape)
const plainDocuments = documents.filter(({ before, entry }) => before === undefined && entry === 'json')
const poolMax = 40
const seedsMax = 6

/** The shape of a recipe, by its name; undefined when the name is none. */
export function shapeOfRecipe(name: string): DocumentShape | undefined {
  const [base = '', size = '', ...seeds] = name.split('~')
  const shape = documents.find((one) => one.name === base)
  const n = Number(size)
  return shape && Number.isInteger(n) && n > 0 ? shapeOf({ base, n, seeds }, shape) : undefined
}

function nameOf({ base, n, seeds }: Recipe): string {
  return [base, n, ...seeds].join('~')
}

function shapeOf(recipe: Recipe, base: DocumentShape): DocumentShape {
  const make = (n: number): AttackRequest =>
    recipe.seeds.reduce(
      (request, seed) =>
        mutate(
          request,
          seed,
          plainDocuments.map((other) => (size: number) => makeOf(other, size)),
        ),
      makeOf(base, n),
    )
  const entry = isYaml(make(recipe.n)) ? 'yaml' : base.entry
  return { name: nameOf(recipe), entry, n: recipe.n, make, ...(base.before && { before: base.before }) }
}

/** Random parts of a shape are those of its name. */
function makeOf(shape: DocumentShape, n: number): AttackRequest {
  return shape.make(n, new SeededRandom(shape.name))
}

export interface SearchOptions {
  readonly seed: string
  isOver(): boolean
  onTried(row: Row): void
}

interface Candidate {
  readonly recipe: Recipe
  readonly score: number
}

/**
 * Searches until the time is over. Returns everything above a bound, and of each entry point the worst that was tried
 * when it is worse than the catalogue.
 */
export async function search(
  meter: Pick<Meter, 'row'>,
  known: readonly Row[],
  { seed, isOver, onTried }: SearchOptions,
): Promise<Row[]> {
  let pool = known.flatMap(candidateOf).sort(byScore).slice(0, poolMax)
  const worst = worstOfEach(known)
  const failed: Row[] = []
  for (let round = 0; !isOver() && pool.length > 0; round++) {
    const recipe = nextRecipe(pool, `${seed}-${round}`)
    const shape = shapeOfRecipe(nameOf(recipe))
    if (!shape || bytesOf(shape.make(recipe.n, new SeededRandom(''))) > bodyBytesMax) continue
    const row = await meter.row(shape, { seed })
    onTried(row)
    pool = [...pool, { recipe, score: scoreOf(row) }].sort(byScore).slice(0, poolMax)
    if (row.failures.length > 0) failed.push(row)
    else if (row.severity > (worst.get(row.entry)?.severity ?? 0)) worst.set(row.entry, row)
  }
  return [...failed, ...[...worst.values()].filter((row) => !known.includes(row))]
}

/** The row of each entry point that is nearest to its bounds. */
export function worstOfEach(rows: readonly Row[]): Map<Entry, Row> {
  const worst = new Map<Entry, Row>()
  for (const row of rows) if (row.severity > (worst.get(row.entry)?.severity ?? 0)) worst.set(row.entry, row)
  return worst
}

/**
 * What to change next: what is near a bound, whichever it is, and of these what costs most per byte: a cheap request
 * that does much is the one to make larger.
 */
function scoreOf({ severity, msPerKb, growth = 1 }: Row): number {
  return severity * growth * Math.sqrt(1 + msPerKb)
}

function byScore(one: Candidate, other: Candidate): number {
  return other.score - one.score
}

function candidateOf(row: Row): Candidate[] {
  const isKnown = documents.some(({ name }) => name === row.shape)
  return isKnown ? [{ recipe: { base: row.shape, n: row.n, seeds: [] }, score: scoreOf(row) }] : []
}

/** Takes a good recipe, the better the likelier, and changes its size or adds a change. */
function nextRecipe(pool: readonly Candidate[], seed: string): Recipe {
  const random = new SeededRandom(seed)
  const rank = Math.min(randomInt(random, pool.length), randomInt(random, pool.length))
  const { base, n, seeds } = (pool[rank] as Candidate).recipe
  const factor = pick([0.25, 0.5, 1, 1, 1.5, 2], random)
  const size = Math.max(2, Math.round(n * factor))
  return { base, n: size, seeds: seeds.length < seedsMax ? [...seeds, seed] : seeds.slice(0, -1) }
}
