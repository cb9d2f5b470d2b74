// Points drawn by the graphics card (WebGL 2): a hundred thousand in every frame.

const VERTEX = `#version 300 es
in vec2 place; in float value;
uniform vec2 scale, offset; uniform float size;
out float shade;
void main() { gl_Position = vec4(place * scale + offset, 0, 1); gl_PointSize = size; shade = value; }`;

const FRAGMENT = `#version 300 es
precision highp float;
in float shade; uniform sampler2D palette; uniform vec4 ring; uniform float strength; out vec4 colour;
void main() {
  float edge = 1. - smoothstep(.36, .5, length(gl_PointCoord - .5));
  vec3 own = texture(palette, vec2((shade + .5) / 256., .5)).rgb;
  colour = vec4(mix(own, ring.rgb, ring.a), 1.) * edge * strength;
}`;

/** Return a painter for a canvas; null without WebGL 2. */
export function glPoints(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
  const program = gl && linked(gl);
  if (!program) return null;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const uniform = (name) => gl.getUniformLocation(program, name);
  const [scale, offset, size, strength, ring] = ["scale", "offset", "size", "strength", "ring"].map(uniform);
  const places = attribute(gl, program, "place", 2, gl.FLOAT);
  const values = attribute(gl, program, "value", 1, gl.UNSIGNED_BYTE);
  const every = (stride) => [places, values].forEach((one) => one.read(stride));
  const chosen = gl.createBuffer();
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, chosen);
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
  let n = 0;
  let lit = -1; // number of highlighted points; -1 without a highlight
  let around = null; // the colour of the rings around them

  return {
    kind: "webgl",
    /** Set the coordinates: x, y, x, y, …, each 0 to 1. */
    place(pairs) {
      n = pairs.length / 2;
      gl.bindBuffer(gl.ARRAY_BUFFER, places.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, pairs, gl.DYNAMIC_DRAW);
    },
    colour(bytes, table) {
      gl.bindBuffer(gl.ARRAY_BUFFER, values.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, table);
    },
    /** Highlight points, with a coloured ring if given, and fade the others; null ends it. */
    light(points, colour = null) {
      lit = points ? points.length : -1;
      around = colour;
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(points ?? []), gl.STATIC_DRAW);
    },
    draw(camera) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(scale, 2 * camera.scaleX, 2 * camera.scaleY);
      gl.uniform2f(offset, -2 * camera.x * camera.scaleX, -2 * camera.y * camera.scaleY);
      gl.uniform1f(size, camera.size);
      gl.uniform4f(ring, 0, 0, 0, 0);
      gl.uniform1f(strength, lit >= 0 ? 0.16 : 0.8);
      every(camera.stride);
      gl.drawArrays(gl.POINTS, 0, Math.ceil(n / camera.stride));
      every(1);
      if (lit <= 0) return;
      gl.uniform1f(strength, 1);
      if (around) {
        gl.uniform4f(ring, ...around.map((value) => value / 255), 1);
        gl.uniform1f(size, camera.size + 9 * camera.ratio);
        gl.drawElements(gl.POINTS, lit, gl.UNSIGNED_INT, 0);
        gl.uniform4f(ring, 0, 0, 0, 0);
      }
      gl.uniform1f(size, camera.size + 3 * camera.ratio);
      gl.drawElements(gl.POINTS, lit, gl.UNSIGNED_INT, 0);
    },
  };
}

function linked(gl) {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

/** The buffer of an attribute of the points; after `read(stride)` every stride-th point is drawn. */
function attribute(gl, program, name, width, type) {
  const buffer = gl.createBuffer();
  const location = gl.getAttribLocation(program, name);
  const bytes = width * (type === gl.FLOAT ? 4 : 1);
  function read(stride) {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.vertexAttribPointer(location, width, type, false, stride * bytes, 0);
  }
  gl.enableVertexAttribArray(location);
  read(1);
  return { buffer, read };
}
