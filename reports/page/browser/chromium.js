// A headless Chromium spoken to through two pipes: DevTools messages, each ended by a zero byte.
// No package of npm is needed.
'use strict';

const {spawn} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const ARGUMENTS = [
  '--headless=new',
  '--remote-debugging-pipe',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  '--disable-background-networking',
  '--disable-sync',
  '--disable-component-update',
  '--disable-default-apps',
  '--mute-audio',
  '--hide-scrollbars',
  // Nothing outside this machine has a name.
  '--host-resolver-rules=MAP * ~NOTFOUND',
];

/** The root of a container has no user namespaces for the sandbox. */
function sandboxArguments() {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : [];
}

class Chromium {
  constructor(program) {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'attest-chromium-'));
    const args = [
      ...ARGUMENTS,
      ...sandboxArguments(),
      `--user-data-dir=${this.folder}`,
      'about:blank',
    ];
    this.process = spawn(program, args, {stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe']});
    this.lastWords = '';
    this.process.stderr.on('data', (text) => {
      this.lastWords = (this.lastWords + text).slice(-2000);
    });
    this.pending = new Map();
    this.listeners = [];
    this.number = 0;
    this.rest = Buffer.alloc(0);
    this.process.stdio[4].on('data', (bytes) => this.receive(bytes));
    // Writing to a browser that has ended is told by its exit.
    this.process.stdio[3].on('error', () => {});
    this.process.on('exit', () => this.fail(new Error(`Chromium ended: ${this.lastWords}`)));
    this.process.on('error', (error) => this.fail(error));
  }

  fail(error) {
    this.ended = error;
    for (const {reject} of this.pending.values()) reject(error);
    this.pending.clear();
  }

  receive(bytes) {
    this.rest = Buffer.concat([this.rest, bytes]);
    for (let end = this.rest.indexOf(0); end >= 0; end = this.rest.indexOf(0)) {
      const message = JSON.parse(this.rest.subarray(0, end).toString('utf8'));
      this.rest = this.rest.subarray(end + 1);
      this.dispatch(message);
    }
  }

  dispatch(message) {
    if (message.id === undefined) {
      for (const listener of this.listeners) listener(message);
      return;
    }
    const {resolve, reject, method} = this.pending.get(message.id);
    this.pending.delete(message.id);
    if (message.error) reject(new Error(`${method}: ${message.error.message}`));
    else resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    if (this.ended) return Promise.reject(this.ended);
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.pending.set(id, {resolve, reject, method});
      this.process.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
    });
  }

  /** A new tab with its own session. */
  async tab() {
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    return new Tab(this, sessionId, targetId);
  }

  async close() {
    const gone = new Promise((resolve) => {
      this.process.once('exit', resolve);
    });
    this.send('Browser.close').catch(() => {});
    const patience = setTimeout(() => this.process.kill('SIGKILL'), 5000);
    if (this.process.exitCode === null && this.process.signalCode === null) await gone;
    clearTimeout(patience);
    fs.rmSync(this.folder, {recursive: true, force: true, maxRetries: 5});
  }
}

class Tab {
  constructor(browser, sessionId, targetId) {
    this.browser = browser;
    this.sessionId = sessionId;
    this.targetId = targetId;
    this.waiting = new Map();
    this.events = [];
    browser.listeners.push((message) => {
      if (message.sessionId !== sessionId) return;
      this.events.push(message);
      this.waiting.get(message.method)?.();
      this.waiting.delete(message.method);
    });
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  /** Resolves at the next event of this name. */
  next(method) {
    return new Promise((resolve) => {
      this.waiting.set(method, resolve);
    });
  }

  /** The value of an expression in the page; what is thrown there is thrown here. */
  async evaluate(expression) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails)
      throw new Error(
        `${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`,
      );
    return result.value;
  }

  /** Asks until the expression is true; the time limit of the whole test ends a wait for ever. */
  async until(expression) {
    while (!(await this.evaluate(expression)))
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
  }

  async press(key, modifiers = 0) {
    const codes = {Tab: 9, Enter: 13, Escape: 27};
    const event = {key, code: key, windowsVirtualKeyCode: codes[key], modifiers};
    if (key === 'Enter') event.text = '\r';
    await this.send('Input.dispatchKeyEvent', {type: 'keyDown', ...event});
    await this.send('Input.dispatchKeyEvent', {type: 'keyUp', ...event});
  }

  /** The middle of an element, which is scrolled into the window. */
  centre(selector) {
    return this.evaluate(`(() => {
      const each = document.querySelector(${JSON.stringify(selector)});
      each.scrollIntoView({block: 'center'});
      const box = each.getBoundingClientRect();
      return {x: box.x + box.width / 2, y: box.y + box.height / 2};
    })()`);
  }

  /** Clicks with the mouse where the element is, so that what lies over it would be hit instead. */
  async click(selector) {
    const {x, y} = await this.centre(selector);
    const event = {x, y, button: 'left', clickCount: 1};
    await this.send('Input.dispatchMouseEvent', {type: 'mouseMoved', x, y});
    await this.send('Input.dispatchMouseEvent', {type: 'mousePressed', ...event});
    await this.send('Input.dispatchMouseEvent', {type: 'mouseReleased', ...event});
  }

  /** A picture of the whole page. */
  async picture(file) {
    const {cssContentSize} = await this.send('Page.getLayoutMetrics');
    const {data} = await this.send('Page.captureScreenshot', {
      format: 'png',
      captureBeyondViewport: true,
      clip: {
        x: 0,
        y: 0,
        width: cssContentSize.width,
        height: Math.min(cssContentSize.height, 16000),
        scale: 1,
      },
    });
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
  }

  close() {
    return this.browser.send('Target.closeTarget', {targetId: this.targetId});
  }
}

module.exports = {Chromium};
