/**
 * `npm run picture`: renews the README's pictures from the page of the demo, in light and dark. It needs Chromium:
 * the one that CHROMIUM names, or one on PATH. Fonts are those of this machine.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium, type Locator } from 'playwright-core';

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const DEMO = fileURLToPath(new URL('demo.ts', import.meta.url));
const PAGE = fileURLToPath(new URL('../.demo/pull-request.html', import.meta.url));
const DOCS = fileURLToPath(new URL('../docs/', import.meta.url));
/** CSS pixels. About as wide as a README is shown, so that the text keeps its size. */
const WIDTH = 800;
/** Pixels of the picture for each CSS pixel: legible on dense screens. */
const SCALE = 1.25;
/** So that a clone and a page with the README stay small. */
const MAX_BYTES = 200 * 1_000;

try {
  const executablePath = findChromium();
  await runDemo();
  await takePictures(executablePath);
} catch (error) {
  process.stderr.write(`No picture was renewed: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

function findChromium(): string {
  const named = process.env['CHROMIUM'];
  if (named !== undefined && named !== '') {
    if (!isExecutable(named)) {
      throw new Error(`CHROMIUM is ${named}, which is not a program.`);
    }
    return named;
  }
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = COMMANDS.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
  if (found === undefined) {
    throw new Error(
      `Chromium was not found. Install it (Debian: apt-get install chromium fonts-noto-color-emoji), or set CHROMIUM to its path. Looked on PATH for ${COMMANDS.join(', ')}.`,
    );
  }
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Writes the page. The picture then shows what this version of Gatehouse really posts. */
async function runDemo(): Promise<void> {
  const child = spawn(process.execPath, [DEMO, '--once'], {
    env: { ...process.env, PORT: '0', METRICS_PORT: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  if (code !== 0) {
    throw new Error(`The demo exited with status ${code}. Run \`npm run demo -- --once\` to see why.`);
  }
}

async function takePictures(executablePath: string): Promise<void> {
  // Chromium's sandbox does not start for root, as in a container. The pages are our own, and run no script.
  const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width: WIDTH, height: WIDTH };
      const page = await browser.newPage({ colorScheme, viewport, deviceScaleFactor: SCALE });
      await page.goto(pathToFileURL(PAGE).href);
      await takePicture(page.locator('.moment').first(), `pull-request-${colorScheme}.png`);
    }
  } finally {
    await browser.close();
  }
}

async function takePicture(of: Locator, name: string): Promise<void> {
  const path = join(DOCS, name);
  await of.screenshot({ path });
  const { size } = await stat(path);
  process.stdout.write(`${path} (${Math.round(size / 1_000)} kB)\n`);
  if (size > MAX_BYTES) {
    throw new Error(`${path} has ${size} bytes, of at most ${MAX_BYTES}.`);
  }
}
