/**
 * Which keys of a JSON text are there twice, and where: the slow look, taken only when there are some.
 *
 * The text must be valid JSON. A frame per open list or object remembers where we are; nothing recurses.
 */
import { endOfString } from './string-end.ts'
import { formatPath } from './text-path.ts'

interface ContainerFrame {
  /** The keys so far, and whether they were met again; absent in a list. */
  readonly keys: Map<string, boolean> | undefined
  /** The step that leads to the value being read: a key or an index. */
  step: string | number
}

/** As many as upstream reports. */
const duplicatesMax = 100
/** How often a path is spelled out. Objects that are there twice themselves can make the same path over and over. */
const looksMax = 1000

interface DuplicateScan {
  readonly paths: Set<string>
  looks: number
}

/** The paths of keys that are there more than once, each once, in the order of the text. */
export function findDuplicates(text: string): string[] {
  const found: DuplicateScan = { paths: new Set(), looks: 0 }
  const frames: ContainerFrame[] = []
  for (let index = 0; index < text.length && found.paths.size < duplicatesMax && found.looks < looksMax; index++) {
    const frame = frames.at(-1)
    switch (text[index]) {
      case '"': {
        const end = endOfString(text, index)
        if (frame?.keys !== undefined && isKey(text, end))
          noteKey(JSON.parse(text.slice(index, end + 1)) as string, frames, found)
        index = end
        break
      }
      case '{':
        frames.push({ keys: new Map(), step: '' })
        break
      case '[':
        frames.push({ keys: undefined, step: 0 })
        break
      case '}':
      case ']':
        frames.pop()
        break
      case ',':
        if (typeof frame?.step === 'number') frame.step++
        break
      default:
        break
    }
  }
  return [...found.paths]
}

/** In valid JSON a string followed by a colon is a key. */
function isKey(text: string, end: number): boolean {
  let index = end + 1
  while (' \t\r\n'.includes(text[index] ?? '.')) index++
  return text[index] === ':'
}

function noteKey(key: string, frames: readonly ContainerFrame[], found: DuplicateScan): void {
  const frame = frames.at(-1)
  if (frame?.keys === undefined) return
  frame.step = key
  const before = frame.keys.get(key)
  frame.keys.set(key, before !== undefined)
  if (before !== false) return
  found.looks++
  found.paths.add(formatPath(frames.map(({ step }) => step)))
}
