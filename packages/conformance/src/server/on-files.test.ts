import { judge } from './judge.fixture.ts'
import { onFiles } from './stores.fixture.ts'

judge('evenkeel on files', { start: onFiles })
